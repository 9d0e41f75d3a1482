// What has happened to a purchase's commission, what comes next, and what somebody has to do for it.
import type { AnswerOf } from '@referrer/client'

export type Escrow = AnswerOf<'/v1/escrow/{id}', 'get'>

/** `now`: it waits for somebody. `missed`: it will not happen any more. `not needed`: there is nothing to do. */
export type StepState = 'done' | 'now' | 'later' | 'missed' | 'not needed'

export interface Task {
  what: 'bind' | 'vote' | 'review' | 'register'
  isDone: boolean
}

/** What earns the buyer the cashback, in the order in which it is possible. Empty: there is none to earn. */
export function tasksOf(escrow: Escrow): Task[] {
  if (escrow.cashback.amount === 0 || escrow.cashback.status === 'pending') return []
  const isEarned = escrow.cashback.status === 'claimable' || escrow.cashback.status === 'released'
  const review = escrow.buyer_review
  return [
    ...(escrow.buyer_agent_id === null ? [{ what: 'bind', isDone: false } as const] : []),
    // With nothing to vote on, it is earned without a vote.
    ...(isEarned && escrow.votes.length === 0
      ? []
      : [{ what: 'vote', isDone: escrow.votes.length > 0 } as const]),
    { what: 'review', isDone: review !== null },
    // A review on the chain whose text the market does not know.
    ...(review && review.satisfaction_score === null ? [{ what: 'register', isDone: false } as const] : []),
  ]
}

export function reviewState(escrow: Escrow): StepState {
  const tasks = tasksOf(escrow)
  const isDone = tasks.length > 0 ? tasks.every((task) => task.isDone) : escrow.buyer_review !== null
  if (isDone) return 'done'
  if (escrow.state === 'settled') return tasks.length > 0 ? 'missed' : 'not needed'
  return 'now'
}

const CASHBACK_STATES: Record<Escrow['cashback']['status'], StepState> = {
  none: 'not needed',
  pending: 'not needed',
  pending_buyer_review: 'later',
  claimable: 'now',
  released: 'done',
  window_closed: 'missed',
}
export const cashbackState = ({ cashback }: Escrow): StepState => CASHBACK_STATES[cashback.status]

export function settlementState(escrow: Escrow, nowMs: number): StepState {
  if (escrow.state === 'settled') return 'done'
  return nowMs >= Date.parse(escrow.window_end) ? 'now' : 'later'
}

/** Whoever settles when the oracle has not is nobody of ours, so there is no transaction of ours. */
export function fallbackState(escrow: Escrow, nowMs: number): StepState {
  const { held_back: held, fallback_at: from } = escrow
  if (escrow.state === 'settled') {
    const isLate = held.settled_at !== null && from !== null && held.settled_at >= from
    return isLate && held.transaction === null && held.recipient === 'treasury' ? 'done' : 'not needed'
  }
  return from !== null && nowMs >= Date.parse(from) ? 'now' : 'later'
}

export interface Share {
  who: 'merchant' | 'reviewer' | 'held' | 'buyer' | 'platform'
  amount: number
}

/** Who gets how much of the price; the shares add up to it. */
export const sharesOf = (escrow: Escrow): Share[] => [
  { who: 'merchant', amount: escrow.price_usdc - escrow.commission_usdc },
  { who: 'reviewer', amount: escrow.immediate_usdc },
  { who: 'held', amount: escrow.held_back_usdc },
  { who: 'buyer', amount: escrow.cashback_usdc },
  { who: 'platform', amount: escrow.fee_usdc },
]
