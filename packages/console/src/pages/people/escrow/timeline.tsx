import type { ReactNode } from 'react'
import { day, full } from '../../../format/moment.ts'
import { ratingOf } from '../../../format/rating.ts'
import { AgentLink, ReviewLink } from '../../../ui/links.tsx'
import { useNow } from '../../../ui/now.tsx'
import { Foreign, Hash, Stars, Usdc } from '../../../ui/values.tsx'
import {
  cashbackState,
  type Escrow,
  fallbackState,
  reviewState,
  type StepState,
  settlementState,
  tasksOf,
} from './steps.ts'

/** From the payment to the day when nothing is held any more. */
export function Timeline({ escrow }: { escrow: Escrow }) {
  const now = useNow()
  return (
    <ol className="timeline">
      <Step title="Paid" state="done" at={escrow.happened_at}>
        <p>
          <Usdc amount={escrow.price_usdc} /> went to the splitting contract, which divided it in the same
          transaction.
        </p>
        <Transaction hash={escrow.transaction} />
      </Step>
      <Step
        title="The buyer votes and reviews"
        state={reviewState(escrow)}
        at={escrow.buyer_review?.published_at}
      >
        <BuyersPart escrow={escrow} />
      </Step>
      <Step title="Cashback" state={cashbackState(escrow)} at={escrow.cashback.released_at}>
        <Cashback escrow={escrow} />
      </Step>
      <Step
        title="Day 60: what was held back is paid"
        state={settlementState(escrow, now)}
        at={escrow.held_back.settled_at ?? escrow.window_end}
      >
        <Settlement escrow={escrow} />
      </Step>
      <Step title="Fallback: anybody may settle" state={fallbackState(escrow, now)} at={escrow.fallback_at}>
        <Fallback state={fallbackState(escrow, now)} />
      </Step>
    </ol>
  )
}

const STATES: Record<StepState, string> = {
  done: 'Done',
  now: 'Waiting now',
  later: 'Later',
  missed: 'Did not happen',
  'not needed': 'Not needed',
}

const Step = ({
  title,
  state,
  at,
  children,
}: {
  title: string
  state: StepState
  at?: string | null | undefined
  children: ReactNode
}) => (
  <li className={`phase phase-${state.replace(' ', '-')}`}>
    <div className="row row-apart">
      <h3>{title}</h3>
      <p className="row small">
        <span className="phase-state">{STATES[state]}</span>
        {at && state !== 'not needed' && (
          <time className="soft" dateTime={at} title={full(at)}>
            {state === 'later' ? 'from ' : ''}
            {day(at)}
          </time>
        )}
      </p>
    </div>
    {children}
  </li>
)

const Transaction = ({ hash }: { hash: string | null }) =>
  hash && (
    <p className="row small soft">
      Transaction <Hash value={hash} label="the transaction" />
    </p>
  )

const LONGEST_REASON = 280

function BuyersPart({ escrow }: { escrow: Escrow }) {
  const { buyer_review: review, votes } = escrow
  return (
    <>
      {votes.length > 0 && (
        <ul className="votes">
          {votes.map((vote) => (
            <li key={vote.review_internal_id}>
              Voted for <ReviewLink id={vote.review_internal_id} /> of <AgentLink id={vote.author_agent_id} />
              :{' '}
              <q>
                <Foreign text={vote.reasoning} most={LONGEST_REASON} />
              </q>
              {!vote.qualifies && <span className="soft"> It does not count for the author’s rank.</span>}
            </li>
          ))}
        </ul>
      )}
      {review && (
        <p className="row">
          Wrote <ReviewLink id={review.internal_id} /> <Stars score={ratingOf(review.satisfaction_score)} />
        </p>
      )}
      {!review && votes.length === 0 && (
        <p>
          {escrow.state === 'settled'
            ? 'The buyer said nothing about this purchase.'
            : tasksOf(escrow).length > 0
              ? 'Nothing yet. A vote and a review earn the cashback.'
              : 'Nothing yet. No money depends on it, but a buyer’s word counts more than others.'}
        </p>
      )}
    </>
  )
}

function Cashback({ escrow: { cashback, window_end } }: { escrow: Escrow }) {
  const amount = <Usdc amount={cashback.amount} />
  switch (cashback.status) {
    case 'none':
      return <p>The review promised none.</p>
    case 'pending':
      return <p>The review promised none; {amount} go to the reviewer with the settlement.</p>
    case 'pending_buyer_review':
      return (
        <p>
          {amount} wait for the buyer, who earns them with votes and a review until {day(window_end)}.
          Otherwise they go to the reviewer.
        </p>
      )
    case 'claimable':
      return <p>{amount} are earned and paid next.</p>
    case 'released':
      return (
        <>
          <p>{amount} were paid to the buyer.</p>
          <Transaction hash={cashback.transaction} />
        </>
      )
    case 'window_closed':
      return <p>{amount} went to the reviewer, because they were not earned before the settlement.</p>
  }
}

function Settlement({ escrow }: { escrow: Escrow }) {
  const { held_back: held, review_outcome: outcome } = escrow
  const amount = <Usdc amount={held.amount} />
  if (held.amount === 0) return <p>Nothing was held back.</p>
  if (escrow.state === 'settled')
    return (
      <>
        <p>
          {amount}{' '}
          {held.recipient === 'treasury' ? (
            'went to the treasury of the market.'
          ) : (
            <>
              went to <AgentLink id={escrow.reviewer_agent_id} />, who wrote the review.
            </>
          )}
        </p>
        <Transaction hash={held.transaction} />
      </>
    )
  if (outcome === 'contradicted')
    return (
      <p>
        Buyers contradict the review. If it stays so, {amount} go to the treasury of the market and not to the
        reviewer, who may dispute it.
      </p>
    )
  if (outcome === 'disputed')
    return (
      <p>
        Buyers contradict the review, and its author says that they are wrong. An admin decides, then {amount}{' '}
        are paid.
      </p>
    )
  return (
    <p>
      {amount} go to <AgentLink id={escrow.reviewer_agent_id} />, unless buyers contradict the review until
      then. They are the reviewer’s reason to be honest.
    </p>
  )
}

const Fallback = ({ state }: { state: StepState }) => {
  if (state === 'not needed') return <p>The market settled the purchase itself.</p>
  if (state === 'done')
    return (
      <p>The market did not settle in time, so somebody else did. What was held back went to the treasury.</p>
    )
  return (
    <p>
      If the market has not settled by then, anybody may do it with the tool{' '}
      <code>trigger_settle_fallback</code>: what is held back goes to the treasury, and cashback that is not
      paid goes to the reviewer. No money stays locked.
    </p>
  )
}
