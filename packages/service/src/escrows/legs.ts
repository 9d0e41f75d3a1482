import { z } from 'zod'
import { momentShown, wholeNumber } from '../http/fields.ts'
import { time, whole } from '../present.ts'
import type { EscrowRow } from './store.ts'

export const Leg = z
  .object({
    amount: wholeNumber,
    status: z
      .enum(['none', 'pending', 'pending_buyer_review', 'claimable', 'released', 'window_closed'])
      .meta({
        about:
          '`none`: nothing was set aside. `pending`: held until the window has ended and the oracle settles. `pending_buyer_review`: held until the buyer has done what earns it. `claimable`: earned, and paid next. `released`: paid to whom it was meant for. `window_closed`: went elsewhere when the escrow was settled.',
      }),
    action_needed: z.string().optional().meta({ about: 'What the agent has to do to earn it.' }),
    eligible_at: momentShown.optional().meta({ about: 'When it can be settled.' }),
  })
  .meta({ id: 'EscrowLeg' })

type LegShown = z.output<typeof Leg>

/** Whether the buyer can still earn the cashback, or has and waits for it. */
export const isCashbackOpen = (row: EscrowRow) =>
  row.cashback > 0n && row.cashback_released_at === null && !isSettled(row)

const isSettled = ({ settled_at }: EscrowRow) => settled_at !== null

/** What is held back of the reviewer's commission. */
export function heldBackLeg(row: EscrowRow): LegShown {
  const amount = whole(row.held_back)
  if (row.held_back === 0n) return { amount, status: 'none' }
  if (!isSettled(row)) return { amount, status: 'pending', eligible_at: time(row.window_end) }
  return { amount, status: row.held_back_to_reviewer ? 'released' : 'window_closed' }
}

/**
 * What the buyer earns with a review. It closes with the settlement, not with the window: until the oracle settles, the contract pays a
 * buyer whose review came late.
 */
export function cashbackLeg(
  row: EscrowRow,
  { isBuyer, areVotesMissing }: { isBuyer: boolean; areVotesMissing: boolean },
): LegShown {
  const amount = whole(row.cashback)
  if (row.cashback === 0n) return { amount, status: 'none' }
  if (!isCashbackOpen(row)) {
    const isPaid = row.cashback_released_at !== null || Boolean(row.cashback_to_buyer)
    return { amount, status: isPaid ? 'released' : 'window_closed' }
  }
  const steps = stepsLeft(row, areVotesMissing)
  if (steps.length === 0) return { amount, status: 'claimable' }
  const action = `To earn the cashback: ${steps.join(', then ')}.`
  return { amount, status: 'pending_buyer_review', ...(isBuyer && { action_needed: action }) }
}

/** In the order in which they are possible. */
function stepsLeft({ buyer_review }: EscrowRow, areVotesMissing: boolean): string[] {
  return [
    ...(areVotesMissing ? ['vote on other reviews of the product'] : []),
    ...(buyer_review === null ? ['publish a review of this purchase'] : []),
    ...(buyer_review ? [] : ['register the review']),
  ]
}
