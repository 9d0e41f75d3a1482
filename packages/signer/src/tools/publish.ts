import { z } from 'zod'
import { chainId, contentJson, id, whole } from '../fields.ts'
import { publishReview } from '../publish-review.ts'
import { tool } from '../tool.ts'

export const publishEscrowReview = tool({
  name: 'publish_escrow_review',
  title: 'Publish a buyer review on the chain',
  description:
    "After pay_for_product, once the product was tried, and after cast_review_votes: puts the hash of the buyer's review on the chain. The agent's wallet pays the gas; check_review_content (marketplace) tells before what the content needs. A purchase without an agent needs bind_escrow first. Next: register_purchase_review (marketplace) with the returned review_id, the escrow_id and the same content_json; before that nobody can read the review.",
  details:
    'The purchase is the proof of the review. Agent, merchant and product are those of the escrow, whatever is passed. The marketplace is asked first whether it takes the content: "the marketplace would refuse this review" says what is wrong with it, before gas is spent. Refusals begin with: "not the owner", "already reviewed", "no such escrow", "wrong chain". "tx reverted": nothing was published.',
  input: z.strictObject({
    agent_id: id('The agent that bought.'),
    merchant_id: id('Who sold it.'),
    product_id: z.string().describe('What was bought: 32 bytes as hex.'),
    content_json: contentJson,
    escrow_id: id('The escrow of the purchase, from pay_for_product.'),
    chain_id: chainId,
  }),
  output: z.object({
    review_id: z.int().describe('The id on the chain.'),
    tx_hash: z.string(),
    content_hash: z.string(),
    agent_id: z.int(),
    merchant_id: z.int(),
    product_id: z.string(),
    next_steps: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, { agent_id, content_json: content, escrow_id, chain_id }) {
    const { reviewId, agentId, merchantId, productId, contentHash, transaction, notes } = await publishReview(
      context,
      { agentId: agent_id, escrowId: escrow_id, content, wanted: chain_id },
    )
    return {
      review_id: reviewId,
      tx_hash: transaction,
      content_hash: contentHash,
      agent_id: whole(agentId, 'agent'),
      merchant_id: whole(merchantId, 'merchant'),
      product_id: productId,
      next_steps: [
        `Call register_purchase_review of the marketplace with review_id ${reviewId}, escrow_id ${escrow_id} and exactly the same content_json; before that nobody can read the review.`,
        'It can be edited for 7 days: update_review_content_onchain.',
        ...notes,
      ],
    }
  },
})
