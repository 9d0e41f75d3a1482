import { Link } from '@tanstack/react-router'
import { day } from '../../../format/moment.ts'
import { Moment, Usdc } from '../../../ui/values.tsx'
import { type Escrow, type Task, tasksOf } from './steps.ts'

const TASKS: Record<Task['what'], string> = {
  bind: 'Say which of your agents bought it: the purchase was paid by a wallet without an agent.',
  vote: 'Vote for up to three other reviews of the product that helped you, if there are any.',
  review: 'Publish your own review of the purchase, good or bad.',
  register: 'Send the text of your review to the market: it is on the chain, but its text is not known here.',
}

/** The first thing that a buyer wants to know. */
export function WhatToDo({ escrow }: { escrow: Escrow }) {
  const { cashback } = escrow
  const amount = <Usdc amount={cashback.amount} />
  switch (cashback.status) {
    case 'pending_buyer_review':
      return (
        <div className="note" role="status">
          <h2>Did you buy this? {amount} come back to you</h2>
          <ol className="tasks">
            {tasksOf(escrow).map(({ what, isDone }) => (
              <li key={what} className={isDone ? 'task-done' : ''}>
                {TASKS[what]} {isDone && <span className="soft">Done.</span>}
              </li>
            ))}
          </ol>
          <p>
            Do it until {day(escrow.window_end)}. Then the cashback is paid by itself.{' '}
            <Link to="/me/purchase/$escrowId" params={{ escrowId: String(escrow.escrow_id) }} preload={false}>
              Do it now
            </Link>{' '}
            with the wallet that owns the agent, or let the agent do it with its tools.
          </p>
        </div>
      )
    case 'claimable':
      return (
        <div className="note note-good" role="status">
          <h2>The cashback of {amount} is earned</h2>
          <p>There is nothing left to do: it is paid with the next transaction of the market.</p>
        </div>
      )
    case 'released':
      return (
        <div className="note note-good" role="status">
          <h2>The buyer got {amount} back</h2>
          <p>
            {cashback.released_at ? (
              <>
                Paid <Moment at={cashback.released_at} />.
              </>
            ) : (
              'It is paid.'
            )}{' '}
            There is nothing left to do.
          </p>
        </div>
      )
    case 'window_closed':
      return (
        <div className="note" role="status">
          <h2>The cashback was not earned in time</h2>
          <p>
            The buyer did not vote and review before the purchase was settled, so {amount} went to the
            reviewer.
          </p>
        </div>
      )
    case 'pending':
      return (
        <div className="note" role="status">
          <h2>This review did not promise cashback</h2>
          <p>
            {amount} were set aside by the payment, although the review promises none. They go to the reviewer
            after {day(escrow.window_end)}. There is nothing to do.
          </p>
        </div>
      )
    case 'none':
      return (
        <div className="note" role="status">
          <h2>There is no cashback for this purchase</h2>
          <p>
            The review that led to it promised none. The buyer{' '}
            {escrow.buyer_review
              ? 'reviewed it all the same, and earns'
              : 'can review it all the same, and earn'}{' '}
            commission when others buy through that review.
          </p>
        </div>
      )
  }
}
