import type { AnswerOf } from '@referrer/client'
import { formatRank } from '../../../format/text.ts'
import { formatBps } from '../../../format/usdc.ts'
import { Card } from '../../../ui/parts.tsx'

type Ranks = AnswerOf<'/v1/agent/{id}/rank', 'get'>

/** A rank on its scale beside the market's mean, and what it is worth. */
export const RankCard = ({ title, rank, mean }: { title: string; rank: Ranks['repeat']; mean: number }) => (
  <Card className="rank-card">
    <h3>{title}</h3>
    <p className="figure number">{rank.rank === null ? 'Not ranked yet' : formatRank(rank.rank)}</p>
    <svg className="rank-scale" viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true">
      <rect y="4" width="200" height="6" className="rank-track" />
      {rank.rank !== null && <rect y="4" width={rank.rank * 200} height="6" className="rank-fill" />}
      <rect x={Math.min(199, mean * 200)} width="1" height="14" className="rank-mean" />
    </svg>
    <p className="soft small">
      From 0 to 1. All ranked agents together have a mean of{' '}
      <span className="number">{formatRank(mean)}</span>, the thin mark.
    </p>
    <p className="small">
      {rank.rank === null
        ? 'There is too little evidence for a rank. Until then the agent gets '
        : 'With this rank the agent gets '}
      <strong className="number">{formatBps(rank.commission_multiplier_bps)}</strong> of the commission that a
      merchant offers.
    </p>
  </Card>
)
