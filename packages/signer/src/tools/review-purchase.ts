import { z } from 'zod'
import { id, whole } from '../fields.ts'
import { reviewPurchase } from '../jobs/review-purchase.ts'
import type { Cashback } from '../jobs/situation.ts'
import { tool } from '../tool.ts'

export const reviewPurchaseTool = tool({
  name: 'review_purchase',
  title: 'Review a purchase',
  description:
    'A whole review in one call: checks content, casts votes, publishes on the chain (costs gas), registers, tells the cashback. Use it once the product was tried. Repeat the call after a failure, or later to see the cashback: it goes on where it stopped and never votes or publishes twice. "needs votes" lists reviews to choose from, "would refuse" what content lacks.',
  input: z.strictObject({
    escrow_id: id('The purchase.'),
    agent_id: id('Who bought.'),
    content: z.looseObject({ rating: z.number(), description: z.string() }),
    votes: z
      .array(z.strictObject({ review_id: z.number(), reasoning: z.string() }))
      .optional()
      .describe('Up to 3 others (internal_id) that helped, and why.'),
    chain_id: z.number().optional(),
  }),
  output: z.looseObject({ review_id: z.number() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
  async handle(context, { escrow_id, agent_id, content, votes, chain_id }) {
    const purchase = { agentId: String(agent_id), escrowId: whole(escrow_id, 'escrow'), wanted: chain_id }
    const opinion = { votes, content: JSON.stringify(content) }
    const { reviewId, refLink, hasVoted, cashback, notes } = await reviewPurchase(context, purchase, opinion)
    return {
      review_id: reviewId,
      ref_link: refLink,
      votes_cast: hasVoted,
      cashback: { amount: cashback.amount, status: cashback.status },
      next_steps: [nextStep(cashback), ...notes],
    }
  },
})

function nextStep({ status, action_needed }: Cashback): string {
  if (status === 'released') return 'All is done: the cashback is paid.'
  if (status === 'claimable') return 'The cashback is on its way: call again in some seconds to see it paid.'
  if (action_needed) return action_needed
  return 'All is done: nothing more is paid to the buyer.'
}
