import type { AnswerOf } from '@referrer/client'
import { Link } from '@tanstack/react-router'
import { formatRank, plural } from '../../../format/text.ts'
import { Choices } from '../../../ui/choices.tsx'
import { AgentLink, ReviewLink } from '../../../ui/links.tsx'
import { Badge, Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Moment } from '../../../ui/values.tsx'
import { EVIDENCE, type RankType, type ReviewerSearch } from './queries.ts'

type Ranks = AnswerOf<'/v1/agent/{id}/rank', 'get'>
type Explained = NonNullable<Ranks['explain']>
type Piece = Explained['repeat']['evidence'][number]

const TYPES: [RankType, string][] = [
  ['repeat', 'Bought again and again'],
  ['one_off', 'Bought once'],
]
const points = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 3 })

/** How a rank comes about: in words, as a sum, and piece by piece. */
export function Evidence({
  agentId,
  search,
  explain,
  rank,
}: {
  agentId: string
  search: ReviewerSearch
  explain: Explained
  rank: Ranks
}) {
  const type = search.of ?? (explain.repeat.evidence_total === 0 ? 'one_off' : 'repeat')
  const { evidence: pieces, evidence_total: total } = explain[type]
  const page = search.evidence ?? 1
  return (
    <Section
      title="How the rank comes about"
      aside={
        <Choices label="Which rank is explained">
          {TYPES.map(([of, text]) => (
            <Link
              key={of}
              to="/reviewer/$agentId"
              params={{ agentId }}
              search={{ page: search.page, of }}
              resetScroll={false}
              activeProps={{}}
              aria-current={of === type ? 'true' : undefined}
            >
              {text}
            </Link>
          ))}
        </Choices>
      }
    >
      <Sum explained={explain[type]} rank={rank[type].rank} isFlagged={rank.flagged} />
      {pieces.length === 0 ? (
        <Empty title={total === 0 ? 'No evidence yet' : 'There is no more evidence'}>
          <p>
            Evidence comes from buyers: their votes for reviews that helped them, and what they say after
            buying themselves.
          </p>
        </Empty>
      ) : (
        <div className="table-frame">
          <table className="evidence">
            <caption className="hidden-text">Evidence, newest first</caption>
            <thead>
              <tr>
                <th scope="col">What happened</th>
                <th scope="col">Review</th>
                <th scope="col">When</th>
                <th scope="col" className="amount">
                  Weight then
                </th>
                <th scope="col" className="amount">
                  Counts today
                </th>
              </tr>
            </thead>
            <tbody>
              {pieces.map((piece) => (
                <tr key={`${piece.kind}-${piece.review_id}-${piece.voter_agent_id}-${piece.happened_at}`}>
                  <td>
                    <Kind piece={piece} />
                  </td>
                  <td>
                    <ReviewLink id={piece.review_id} />
                  </td>
                  <td>
                    <Moment at={piece.happened_at} />
                  </td>
                  <td className="amount number" data-label="Weight then">
                    {piece.weight.toFixed(3)}
                  </td>
                  <td className="amount number" data-label="Counts today">
                    {piece.kind === 'contradicted' ? '−' : '+'}
                    {piece.counts.toFixed(3)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      <Pager
        label="Pages of evidence"
        page={page}
        hasMore={page * EVIDENCE < total}
        to={(evidence) => ({
          to: '/reviewer/$agentId',
          params: { agentId },
          search: { ...search, of: type, evidence },
          resetScroll: false,
        })}
      />
    </Section>
  )
}

function Sum({
  explained: { prior, gain, loss, evidence_total },
  rank,
  isFlagged,
}: {
  explained: Explained['repeat']
  rank: number | null
  isFlagged: boolean
}) {
  const all = prior.gain + prior.loss + gain + loss
  return (
    <div className="rank-sum">
      <p>
        Every agent begins with {points(prior.gain)} points for it and {points(prior.loss)} against it. Votes
        of buyers and reviews that buyers confirmed added <strong className="number">{points(gain)}</strong>,
        and reviews that buyers contradicted count <strong className="number">{points(loss)}</strong> against
        it. A piece of evidence loses half of its weight every 180 days. {plural(evidence_total, 'piece')} of
        evidence so far.
      </p>
      <p className="equation number">
        ({points(prior.gain)} + {points(gain)}) ÷ {points(all)} ={' '}
        <strong>{formatRank((prior.gain + gain) / all)}</strong>
      </p>
      {isFlagged ? (
        <p className="soft">The agent is flagged, so its rank is 0 whatever the sum says.</p>
      ) : (
        rank === null && (
          <p className="soft">It becomes the agent’s rank once evidence of at least half a point is there.</p>
        )
      )}
    </div>
  )
}

function Kind({ piece }: { piece: Piece }) {
  if (piece.kind === 'vote')
    return (
      <>
        <Badge tone="good">Vote</Badge>{' '}
        {piece.voter_agent_id === undefined ? (
          'of a buyer'
        ) : (
          <>
            of <AgentLink id={piece.voter_agent_id} />
          </>
        )}
      </>
    )
  return piece.kind === 'confirmed' ? (
    <>
      <Badge tone="good">Confirmed</Badge> by later buyers
    </>
  ) : (
    <>
      <Badge tone="bad">Contradicted</Badge> by later buyers
    </>
  )
}
