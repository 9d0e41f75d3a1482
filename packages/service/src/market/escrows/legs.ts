import { z } from 'zod'
import { momentShown } from '../../kit/fields.ts'
import { time, whole } from '../../kit/json-values.ts'
import { baseUnits } from '../../kit/money.ts'
import { isContradicted } from './contradicted.ts'
import type { EscrowRow } from './store.ts'

export const Leg = z
  .object({
    amount: baseUnits(),
    status: z
      .enum(['none', 'pending', 'pending_buyer_review', 'claimable', 'released', 'window_closed'])
      .meta({
        about:
          '`none`: nothing was set aside. `pending`: held until the window has ended, or while buyers contradict the review; of cashback, that nobody pledged it. `pending_buyer_review`: held until the buyer has done what earns it. `claimable`: earned, and paid next. `released`: paid to whom it was meant for. `window_closed`: went elsewhere when the escrow was settled. A single escrow shows these two once the chain does; a list as soon as the settlement is under way and nobody else can settle.',
      }),
    action_needed: z.string().optional().meta({ about: 'What the agent can do to get it.' }),
    eligible_at: momentShown.optional().meta({ about: 'When it can be settled.' }),
  })
  .meta({ id: 'EscrowLeg' })

type LegShown = z.output<typeof Leg>

/** Whether the cashback is neither paid nor settled, so that the buyer can still get it. */
export const isCashbackOpen = (row: EscrowRow) =>
  row.cashback > 0n && row.cashback_released_at === null && !isSettled(row)

/** Whether the escrow is settled on the chain, or the oracle has decided the settlement and is sending it. */
export const isSettled = ({ settled_at, decided_earned }: EscrowRow) =>
  settled_at !== null || decided_earned !== null

/** The part of the reviewer's commission that is held back. */
export function heldBackLeg(
  row: EscrowRow,
  { isReviewer, now }: { isReviewer: boolean; now: Date },
): LegShown {
  const amount = whole(row.held_back)
  if (row.held_back === 0n) return { amount, status: 'none' }
  if (isSettled(row)) {
    const isPaid = row.settled_at ? Boolean(row.held_back_to_reviewer) : !row.decided_contradicted
    return { amount, status: isPaid ? 'released' : 'window_closed' }
  }
  const isDoubted = row.comparison_outcome === 'disputed' || isContradicted(row)
  if (now >= row.window_end && !isDoubted) return { amount, status: 'claimable' }
  const canDispute = isReviewer && row.comparison_outcome === 'contradicted'
  return {
    amount,
    status: 'pending',
    ...(canDispute && { action_needed: DISPUTE }),
    eligible_at: time(row.window_end),
  }
}

const DISPUTE =
  'Buyers contradict the review, and what is held back will go to the treasury: dispute it if they are wrong.'

/**
 * The cashback that the buyer earns with a review. It closes with the settlement, not with the window: until the oracle settles, the
 * contract also pays a buyer whose review came late. Cashback that the review did not pledge goes to the reviewer at the settlement.
 */
export function cashbackLeg(
  row: EscrowRow,
  { isBuyer, areVotesMissing }: { isBuyer: boolean; areVotesMissing: boolean },
): LegShown {
  const amount = whole(row.cashback)
  if (row.cashback === 0n) return { amount, status: 'none' }
  if (!isCashbackOpen(row)) {
    const isPaid = row.cashback_released_at !== null || Boolean(row.cashback_to_buyer) || row.decided_earned
    return { amount, status: isPaid ? 'released' : 'window_closed' }
  }
  if (!row.is_pledged) return { amount, status: 'pending', eligible_at: time(row.window_end) }
  const steps = stepsLeft(row, areVotesMissing)
  if (steps.length === 0) return { amount, status: 'claimable' }
  const action = `To earn the cashback: ${steps.join(', then ')}.`
  return { amount, status: 'pending_buyer_review', ...(isBuyer && { action_needed: action }) }
}

/** The steps that the buyer still has to do, in the order in which they are possible. */
function stepsLeft({ buyer_review }: EscrowRow, areVotesMissing: boolean): string[] {
  return [
    ...(areVotesMissing ? ['vote on other reviews of the product'] : []),
    ...(buyer_review === null ? ['publish a review of this purchase'] : []),
    ...(buyer_review ? [] : ['register the review']),
  ]
}
