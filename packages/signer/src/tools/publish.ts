import { Attribution, ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import { z } from 'zod'
import { connect } from '../chain/chain.ts'
import { eventNotFound, send } from '../chain/send.ts'
import { readTerms } from '../chain/terms.ts'
import { checkContent } from '../check-content.ts'
import { need } from '../config.ts'
import { chainId, contentJson, id, whole } from '../fields.ts'
import { Refused } from '../refused.ts'
import { tool } from '../tool.ts'

export const publishEscrowReview = tool({
  name: 'publish_escrow_review',
  title: 'Publish a buyer review on the chain',
  description:
    'Publishes the hash of a buyer\'s review on the chain, with the purchase as its proof; one review for each purchase. Sends a transaction (the agent\'s wallet pays the gas). Use it after pay_for_product, once the product was tried. Next: call register_purchase_review of the marketplace with the returned review_id, the escrow_id and the very same content_json; without that nobody can read the review. Agent, merchant and product are those of the escrow, whatever is passed. The marketplace is asked first whether it takes the content: "the marketplace would refuse this review" says what is wrong with it, before gas is spent. Refusals begin with: "not the owner", "already reviewed", "no such escrow", "wrong chain"; a purchase without an agent needs bind_escrow first. "tx reverted": nothing was published.',
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
    const account = context.config.keys.ofAgent(agent_id)
    const settings = need(context.config, 'REVIEW_REGISTRY_ADDRESS', 'COMMISSION_ESCROW_ADDRESS')
    const chain = await connect(context, chain_id)
    const terms = await readTerms(context, chain, escrow_id)
    const { buyerAgentId: agentId, merchantId, productId } = terms
    if (agentId === Attribution.AGENTLESS_BUYER_ID) {
      throw new Refused(
        `escrow ${escrow_id} was bought without an agent: call bind_escrow first, then publish again`,
      )
    }
    const notes = await checkContent(context, { chainId: chain.chainId, merchantId, productId, content })
    const contentHash = ContentHash.contentHash({ agentId, merchantId, productId, content })
    const { logs, transactionHash } = await send(context, chain, account, {
      address: settings.REVIEW_REGISTRY_ADDRESS,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [settings.COMMISSION_ESCROW_ADDRESS, terms, contentHash],
    })
    const event = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs }).find(
      ({ args }) => args.proofId === escrow_id && args.contentHash === contentHash,
    )
    if (!event) throw eventNotFound('ReviewPublished', transactionHash)
    const reviewId = whole(event.args.reviewId, 'review')
    return {
      review_id: reviewId,
      tx_hash: transactionHash,
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
