import type { AnswerOf } from '@referrer/client'
import type { ReactNode } from 'react'
import { full } from '../../../format/moment.ts'
import { plain } from '../../../format/text.ts'
import { AgentLink, ReviewLink } from '../../../ui/links.tsx'
import { Badge, Empty } from '../../../ui/parts.tsx'
import { Hash, Moment } from '../../../ui/values.tsx'

type Decision = AnswerOf<'/v1/escrow/{id}/decisions', 'get'>['decisions'][number]

const STATES: Record<Decision['transaction']['state'], [tone: 'good' | 'bad' | 'plain', text: string]> = {
  enqueued: ['plain', 'Not sent yet'],
  sent: ['plain', 'Sent'],
  confirmed: ['good', 'Paid'],
  failed: ['bad', 'Failed'],
}

/** Decisions with what they rest on, newest first. */
export const Decisions = ({ decisions, cashback }: { decisions: Decision[]; cashback: number }) =>
  decisions.length === 0 ? (
    <Empty title="No decision yet">
      <p>It decides when the cashback is earned, and after day 60.</p>
    </Empty>
  ) : (
    <ul className="list decisions">
      {decisions.map((decision, at) => {
        const [tone, text] = STATES[decision.transaction.state]
        return (
          <li key={`${decision.kind}-${decision.attempt}`}>
            <div className="row row-apart">
              <h3>{wordsOf(decision, cashback)}</h3>
              <Badge tone={tone}>{text}</Badge>
            </div>
            <p className="row soft small">
              <span>
                Decided <Moment at={decision.decided_at} />
                {decision.attempt > 1 && `, attempt ${decision.attempt}`}
              </span>
              {decision.transaction.hash && (
                <Hash value={decision.transaction.hash} label="the transaction" />
              )}
            </p>
            {decision.transaction.reason && (
              <p className="small">{plain(decision.transaction.reason, 300)}</p>
            )}
            <details open={at === 0}>
              <summary>What it went by</summary>
              <dl className="facts">
                {Object.entries(decision.inputs)
                  .sort(([one], [other]) => placeOf(one) - placeOf(other))
                  .slice(0, MOST_INPUTS)
                  .map(([name, value]) => (
                    <div key={name}>
                      <dt>{LABELS[name] ?? plain(name, 60)}</dt>
                      <dd>{shown(name, value)}</dd>
                    </div>
                  ))}
              </dl>
            </details>
          </li>
        )
      })}
    </ul>
  )

function wordsOf({ kind, contradicted, cashback_earned: isEarned }: Decision, cashback: number): string {
  if (kind === 'release') return 'The buyer earned the cashback'
  const held = contradicted
    ? 'What was held back goes to the treasury, because buyers contradict the review'
    : 'What was held back goes to the reviewer'
  if (cashback === 0) return held
  return `${held}; ${isEarned ? 'the cashback is the buyer’s' : 'the cashback was not earned and goes to the reviewer'}`
}

const MOST_INPUTS = 30
/** In the order in which they are shown; others come after them. */
const LABELS: Record<string, string> = {
  review_id: 'Review on the chain',
  comparison_outcome: 'What buyers make of the review',
  upheld: 'A dispute was decided for the buyers',
  cashback_pledged: 'The review promises cashback',
  buyer_agent_id: 'Agent that bought',
  buyer_review_internal_id: 'The buyer’s own review',
  votes_missing: 'Votes are missing',
  window_end: 'End of the 60 days',
  block: 'Newest block then',
  block_time: 'Time of that block',
}
const NAMES = Object.keys(LABELS)
const placeOf = (name: string) => (NAMES.includes(name) ? NAMES.indexOf(name) : NAMES.length)
const MOMENT = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function shown(name: string, value: unknown): ReactNode {
  if (value === null) return 'none'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (typeof value === 'number') {
    if (name === 'buyer_agent_id') return <AgentLink id={value} />
    if (name === 'buyer_review_internal_id') return <ReviewLink id={value} />
    return <span className="number">{value.toLocaleString('en')}</span>
  }
  if (typeof value === 'string') return MOMENT.test(value) ? full(value) : plain(value, 120)
  return plain(JSON.stringify(value), 200)
}
