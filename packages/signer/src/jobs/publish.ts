// Votes, publishes and registers the review of a purchase. Every step can be repeated and takes effect once.
import type { Hash } from 'viem'
import { z } from 'zod'
import { BackendRefused, retried, withBackend } from '../backend.ts'
import { type Chain, connect } from '../chain/chain.ts'
import { awaitEarlier } from '../chain/send.ts'
import type { Context } from '../context.ts'
import { publishReview, reviewOfEscrow } from '../publish-review.ts'
import type { Vote } from '../purchase/order.ts'
import { submitVotes } from '../purchase/votes.ts'
import type { Purchase } from './situation.ts'

export const Draft = z.object({
  votes: z.array(z.object({ review_id: z.int(), reasoning: z.string() })),
  /** The text on the chain and that at the marketplace must be the same. */
  content: z.string(),
  /** The transaction that publishes it, stored before it is sent. */
  transaction: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .transform((text) => text as Hash)
    .nullable()
    .default(null),
})
export type Draft = z.output<typeof Draft>

export interface Published {
  /** The id on the chain. */
  reviewId: number
  /** Where others can buy through the review; undefined when another text than the draft was published, from elsewhere. */
  refLink: string | undefined
  /** What could not be checked. */
  notes: string[]
}

const Registered = z.object({ ref_link: z.string() })

/** Returns false when an earlier call had voted. */
export async function voteOnce(
  context: Context,
  { chainId, agentId, escrowId }: Purchase,
  votes: Vote[],
): Promise<boolean> {
  const account = context.config.keys.ofAgent(agentId)
  try {
    await submitVotes(context, await connect(context, chainId), account, { agentId, escrowId, votes })
    return true
  } catch (error) {
    if (error instanceof BackendRefused && /votes already submitted/.test(error.message)) return false
    throw error
  }
}

/** `keep` stores the draft. */
export async function publishDraft(
  context: Context,
  purchase: Purchase,
  draft: Draft,
  keep: (draft: Draft) => Promise<void>,
): Promise<Published> {
  const { chainId, agentId, escrowId } = purchase
  const chain = await connect(context, chainId)
  const earlier = await findPublished(context, chain, purchase, draft)
  if (earlier !== undefined) {
    return { reviewId: earlier, refLink: await register(context, purchase, earlier, draft), notes: [] }
  }
  const { reviewId, notes } = await publishReview(context, {
    agentId,
    escrowId: BigInt(escrowId),
    content: draft.content,
    wanted: chainId,
    beforeSending: (transaction) => keep({ ...draft, transaction }),
  })
  return { reviewId, refLink: await register(context, purchase, reviewId, draft), notes }
}

async function findPublished(
  context: Context,
  chain: Chain,
  { escrowId }: Purchase,
  { transaction }: Draft,
): Promise<number | undefined> {
  const found = await reviewOfEscrow(context, chain, escrowId)
  if (found !== undefined || transaction === null) return found
  await awaitEarlier(context, chain, transaction)
  return reviewOfEscrow(context, chain, escrowId)
}

/** Undefined when the chain has the hash of another text. */
async function register(
  context: Context,
  { chainId, escrowId }: Purchase,
  reviewId: number,
  { content }: Draft,
): Promise<string | undefined> {
  const registration = {
    review_id: reviewId,
    escrow_id: escrowId,
    content_json: content,
    chain_id: chainId,
  }
  try {
    const answer = await withBackend(context, (ask) =>
      retried(context, /not (?:yet indexed|indexed yet)/, () =>
        ask('register_purchase_review', registration),
      ),
    )
    return Registered.catch({ ref_link: '' }).parse(answer).ref_link
  } catch (error) {
    if (error instanceof BackendRefused && error.message.includes('content hash mismatch')) return undefined
    throw error
  }
}
