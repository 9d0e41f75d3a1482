import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import { z } from 'zod'
import { connect } from '../chain/chain.ts'
import { settingsOf } from '../chain/deployment.ts'
import { readRevert } from '../chain/reverts.ts'
import { eventNotFound, send } from '../chain/send.ts'
import { checkContent } from '../check-content.ts'
import { chainId, contentJson, id, time, whole } from '../fields.ts'
import { tool } from '../tool.ts'

export const updateReviewContent = tool({
  name: 'update_review_content_onchain',
  title: 'Edit a buyer review on the chain',
  description:
    "Replaces the content hash of a buyer's review, within 7 days of its publication. The author's wallet pays the gas; the content is checked before. Next, and always: update_review_content (marketplace) with the same review_id and content_json; until then readers see the old text.",
  details: `Sends a transaction. "the marketplace would refuse this review" says what is wrong with the content, before gas is spent. Refusals begin with: "wrong proof type" (only reviews that rest on a purchase can be edited), "edit window closed", "unchanged hash", "not the owner", "no such review", "wrong chain"; "no key for agent N": the author's key is not here. "tx reverted": nothing changed.`,
  input: z.strictObject({
    review_id: id('The id of the review on the chain, from publish_escrow_review (not the internal one).'),
    content_json: contentJson,
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string(),
    review_id: z.int(),
    content_hash: z.string(),
    agent_id: z.int(),
    edited_at: z.string(),
    next_steps: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, { review_id, content_json: content, chain_id }) {
    const { REVIEW_REGISTRY_ADDRESS: address } = await settingsOf(context, 'REVIEW_REGISTRY_ADDRESS')
    const chain = await connect(context, chain_id)
    const registry = { address, abi: reviewRegistryAbi } as const
    const review = await chain.client
      .readContract({ ...registry, functionName: 'getReview', args: [review_id] })
      .catch((error: unknown) => {
        throw readRevert(error)
      })
    const { agentId, merchantId, productId } = review
    const account = context.config.keys.ofAgent(agentId)
    const notes = await checkContent(context, { chainId: chain.chainId, merchantId, productId, content })
    const contentHash = ContentHash.contentHash({ agentId, merchantId, productId, content })
    const { logs, transactionHash } = await send(context, chain, account, {
      ...registry,
      functionName: 'editContent',
      args: [review_id, contentHash],
    })
    const event = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewContentEdited', logs }).find(
      ({ args }) => args.reviewId === review_id,
    )
    if (!event) throw eventNotFound('ReviewContentEdited', transactionHash)
    return {
      tx_hash: transactionHash,
      review_id: whole(review_id, 'review'),
      content_hash: event.args.contentHash,
      agent_id: whole(event.args.agentId, 'agent'),
      edited_at: time(event.args.editedAt),
      next_steps: [
        `Call update_review_content of the marketplace with review_id ${review_id} and exactly the same content_json; until then readers see the old text.`,
        ...notes,
      ],
    }
  },
})
