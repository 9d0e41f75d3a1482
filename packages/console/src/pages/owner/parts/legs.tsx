// What became of money in an escrow, in words.
import type { AnswerOf } from '@referrer/client'
import { Badge } from '../../../ui/parts.tsx'
import { Usdc } from '../../../ui/values.tsx'

export type Leg = AnswerOf<'/v1/agent/{id}/escrows', 'get'>['escrows'][number]['cashback']

type Tone = 'plain' | 'good' | 'bad' | 'accent'

const CASHBACK: Record<Leg['status'], [text: string, tone: Tone]> = {
  none: ['No cashback', 'plain'],
  pending: ['Not promised', 'plain'],
  pending_buyer_review: ['Yours to earn', 'accent'],
  claimable: ['Earned, on its way', 'good'],
  released: ['Paid', 'good'],
  window_closed: ['Went to the reviewer', 'plain'],
}

const HELD_BACK: Record<Leg['status'], [text: string, tone: Tone]> = {
  none: ['Nothing held', 'plain'],
  pending: ['Held', 'plain'],
  pending_buyer_review: ['Held', 'plain'],
  claimable: ['Paid next', 'good'],
  released: ['Paid', 'good'],
  window_closed: ['Not paid', 'bad'],
}

export function LegState({ leg, kind }: { leg: Leg; kind: 'cashback' | 'held back' }) {
  const [text, tone] = (kind === 'cashback' ? CASHBACK : HELD_BACK)[leg.status]
  return (
    <span className="row">
      {leg.amount > 0 && <Usdc amount={leg.amount} />}
      <Badge tone={tone}>{text}</Badge>
    </span>
  )
}

const NAMES = { cashback: 'Cashback', 'held back': 'Commission held back' }

/** Named, on a line of its own; nothing where there is no money. */
export const LegLine = ({ leg, kind }: { leg: Leg; kind: 'cashback' | 'held back' }) =>
  leg.status === 'none' ? null : (
    <div className="row">
      <span className="soft">{NAMES[kind]}</span>
      <LegState leg={leg} kind={kind} />
    </div>
  )
