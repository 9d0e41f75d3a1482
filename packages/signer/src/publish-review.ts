// Publishes the hash of a buyer's review on the chain, with the purchase as its proof.
import { Attribution, ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type Hash, type Hex, parseEventLogs } from 'viem'
import { type Chain, connect } from './chain/chain.ts'
import { settingsOf } from './chain/deployment.ts'
import { eventNotFound, send } from './chain/send.ts'
import { type EscrowTerms, readTerms } from './chain/terms.ts'
import { checkContent } from './check-content.ts'
import type { Context } from './context.ts'
import { whole } from './fields.ts'
import { Refused } from './refused.ts'

interface Draft {
  agentId: bigint | string
  escrowId: bigint
  content: string
  wanted: number | undefined
  /** Called with the hash of the transaction. */
  beforeSending?(hash: Hash): Promise<void>
}

export interface Published {
  /** The id on the chain. */
  reviewId: number
  agentId: bigint
  merchantId: bigint
  productId: Hex
  contentHash: Hash
  transaction: Hash
  /** What could not be checked. */
  notes: string[]
}

export async function publishReview(
  context: Context,
  { agentId: author, escrowId, content, wanted, beforeSending }: Draft,
): Promise<Published> {
  const account = context.config.keys.ofAgent(author)
  const settings = await settingsOf(context, 'REVIEW_REGISTRY_ADDRESS', 'COMMISSION_ESCROW_ADDRESS')
  const chain = await connect(context, wanted)
  const terms = await readTerms(context, chain, escrowId)
  const { buyerAgentId: agentId, merchantId, productId } = terms
  requireAgent(terms)
  const notes = await checkContent(context, { chainId: chain.chainId, merchantId, productId, content })
  const contentHash = ContentHash.contentHash({ agentId, merchantId, productId, content })
  const publishing = {
    address: settings.REVIEW_REGISTRY_ADDRESS,
    abi: reviewRegistryAbi,
    functionName: 'publishWithEscrow',
    args: [settings.COMMISSION_ESCROW_ADDRESS, terms, contentHash],
  } as const
  const { logs, transactionHash } = await send(context, chain, account, publishing, beforeSending)
  const event = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs }).find(
    ({ args }) => args.proofId === escrowId && args.contentHash === contentHash,
  )
  if (!event) throw eventNotFound('ReviewPublished', transactionHash)
  const reviewId = whole(event.args.reviewId, 'review')
  return { reviewId, agentId, merchantId, productId, contentHash, transaction: transactionHash, notes }
}

export function requireAgent({ escrowId, buyerAgentId }: EscrowTerms): void {
  if (buyerAgentId !== Attribution.AGENTLESS_BUYER_ID) return
  throw new Refused(
    `escrow ${escrowId} was bought without an agent: call bind_escrow first, then publish again`,
  )
}

/** The review that was published on a purchase, by its id on the chain; undefined when there is none. */
export async function reviewOfEscrow(
  context: Context,
  { client }: Chain,
  escrowId: number,
): Promise<number | undefined> {
  const settings = await settingsOf(context, 'REVIEW_REGISTRY_ADDRESS', 'COMMISSION_ESCROW_ADDRESS')
  const reviewId = await client.readContract({
    address: settings.REVIEW_REGISTRY_ADDRESS,
    abi: reviewRegistryAbi,
    functionName: 'reviewOfEscrow',
    args: [settings.COMMISSION_ESCROW_ADDRESS, BigInt(escrowId)],
  })
  return reviewId === 0n ? undefined : whole(reviewId, 'review')
}
