import { z } from 'zod'
import { chainId, id, whole } from '../fields.ts'
import { mirrorReview } from '../mirror-review.ts'
import { tool } from '../tool.ts'

export const mirrorReviewTool = tool({
  name: 'mirror_review',
  title: 'Repeat a review as ERC-8004 feedback',
  description:
    "Only when your owner wants it: repeats a published review of a purchase as feedback about the merchant in the network's ERC-8004 reputation registry, once. Public for good, nothing is earned; the author's wallet pays the gas.",
  details: `A rating of 1 to 5 becomes a value of 0, 25, 50, 75 or 100. tag1 is "referrer", tag2 the first four bytes of the product id, the endpoint that of the product. feedbackURI is the file of the review at the marketplace and feedbackHash its keccak256, both checked against the chain before. The review stays as it is; an edit of it afterwards changes the file, so mirror it when you are done with it.

Refusals begin with: "already mirrored", "wrong proof type" (only reviews that rest on a purchase), "not the author", "not published" (register its text first: register_purchase_review), "no reputation registry", "wrong chain". "tx reverted": nothing was written.`,
  input: z.strictObject({
    agent_id: id('The author of the review.'),
    review_id: id('The id of the review on the chain.'),
    dry_run: z.boolean().optional().describe('Send nothing.'),
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string().nullable().describe('Null: dry_run.'),
    feedback_index: z.int().nullable(),
    registry: z.string(),
    merchant_id: z.int(),
    value: z.int(),
    feedback_uri: z.string(),
    feedback_hash: z.string(),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, { agent_id, review_id, dry_run: isDry = false, chain_id }) {
    const mirrored = await mirrorReview(context, {
      agentId: agent_id,
      reviewId: review_id,
      wanted: chain_id,
      isDry,
    })
    return {
      tx_hash: mirrored.transaction ?? null,
      feedback_index: mirrored.index === undefined ? null : whole(mirrored.index, 'feedback'),
      registry: mirrored.registry,
      merchant_id: whole(mirrored.merchantId, 'merchant'),
      value: mirrored.value,
      feedback_uri: mirrored.uri,
      feedback_hash: mirrored.hash,
    }
  },
})
