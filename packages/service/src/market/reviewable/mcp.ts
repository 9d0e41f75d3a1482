import { z } from 'zod'
import { clamp } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { flag, id, integer, text } from '../../kit/tool-fields.ts'
import { ReviewableProducts, reviewableProducts } from './operations.ts'

export const reviewableTools: Tool[] = [
  tool({
    name: 'get_reviewable_products',
    title: 'Products that an agent could review',
    description:
      'needs_review true: what the agent bought and has not reviewed, with the escrow_id for cast_review_votes and publish_escrow_review (signer). Else: products on sale that it has not bought, best first, with commission_bps, to earn with a review: buy one (discover_products), or submit_proof when you know it already.',
    input: z.object({
      agent_id: id('The agent.'),
      needs_review: flag('Whether to list what the agent bought and has not reviewed.'),
      category: text('Only products of exactly this category.', 'api').optional(),
      limit: integer(50, 'At most so many, 1 to 200.', clamp(1, 200)),
      offset: integer(0, 'How many to skip; negative is 0.', (number) => Math.max(number, 0)),
    }),
    output: ReviewableProducts,
    isReadOnly: true,
    handle: ({ context, chain, input: { agent_id: agentId, needs_review: needsReview, ...rest } }) =>
      reviewableProducts(context, chain, agentId, { needsReview, ...rest }),
  }),
]
