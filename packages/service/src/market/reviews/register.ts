import { RpcError, readContract } from '@referrer/chain'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import type { Hex } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import { refused, unavailable } from '../../kit/market-error.ts'
import { reread } from '../../kit/onchain.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { despiteDeadlock } from '../../machinery/db/deadlock.ts'
import { refLinkOf } from '../ref-tokens/link.ts'
import { writeOrLeave } from '../ref-tokens/refresh.ts'
import { findLinked, lockEndpoint } from '../ref-tokens/store.ts'
import { authorRankOf, lockFor, tokenOf } from '../ref-tokens/token.ts'
import { type EscrowKey, nameOf, votesMissing } from '../votes/gate.ts'
import { checkText, parseContent, satisfactionOf } from './content.ts'
import { writeOpinion } from './opinions.ts'
import { checkCategory, reviewSchemas } from './schemas.ts'
import {
  findPurchases,
  findRegistrable,
  lockText,
  type Purchase,
  type RegistrableReview,
  writeText,
} from './store.ts'

export interface Brought {
  /** Id of the review on the chain. */
  reviewId: bigint
  /** The exact text that was hashed. */
  contentJson: string
}

export interface Registration extends Brought {
  /** The purchase that the review is about; 0 for a review on an approved proof. */
  escrowId: bigint
}

export interface Registered {
  /** Empty when the review has no link. */
  refLink: string
  internalId: bigint
  isOfBuyer: boolean
  contentHash: Hex
  /** When the review was last edited on the chain; null when it never was. */
  editedAt: Date | null
}

/** The `proof_kind` of a buyer's review of a purchase. */
const OF_PURCHASE = 2

/**
 * Stores the text of a review that is on the chain. Everybody may call it, because the hash on the chain proves the text. It is
 * idempotent.
 */
export const registerReview = (
  context: Context,
  chain: Chain,
  { escrowId, ...brought }: Registration,
): Promise<Registered> => bringText(context, chain, brought, () => escrowId)

/** Stores the new text of a review that was edited on the chain; until then the previous text is shown. */
export const updateContent = (context: Context, chain: Chain, brought: Brought): Promise<Registered> =>
  bringText(context, chain, brought, ({ proof_kind, proof_id, known_hash }) => {
    if (proof_kind === OF_PURCHASE) return proof_id
    if (known_hash !== null) return 0n
    const { reviewId } = brought
    throw refused(
      'conflict',
      `the first text of review ${reviewId} is not known; register it, there is nothing to update`,
    )
  })

/** `escrowOf` returns the escrow id of the purchase that the review is about; the review itself can contain it. */
async function bringText(
  context: Context,
  chain: Chain,
  { reviewId, contentJson }: Brought,
  escrowOf: (review: RegistrableReview) => bigint,
): Promise<Registered> {
  checkText(contentJson)
  let review = await indexedReview(context, chain, reviewId)
  const purchase = await purchaseOf(context, chain, review, { reviewId, escrowId: escrowOf(review) })
  const hash = hashOf(review, contentJson)
  if (!isSame(review.wanted_hash, hash)) review = await editedReview(context, chain, reviewId, hash)

  const registered = (token: string | null): Registered => ({
    refLink: refLinkOf(context, { ref_token: token }) ?? '',
    internalId: review.internal_id,
    isOfBuyer: purchase !== undefined,
    contentHash: hash,
    editedAt: review.edited_at,
  })
  if (isSame(review.known_hash, hash)) return registered(review.ref_token)
  const content = parseContent(contentJson)
  checkCategory(reviewSchemas(context), review.category, { content, text: contentJson })
  // An author whose text was accepted once can edit it without voting again.
  if (purchase && review.known_hash === null) await requireVotes(context, chain, purchase)
  const text = { reviewId, content: contentJson, hash: bytesOf(hash), satisfaction: satisfactionOf(content) }
  const { token, isLeft } = await attach(context, chain, review, text, purchase)
  return registered(isLeft ? await linkOfOthers(context, chain, reviewId) : token)
}

/** The token of a link that another process signs; null when it is not there within a few seconds. A repeated call shows it. */
async function linkOfOthers(context: Context, chain: Chain, reviewId: bigint): Promise<string | null> {
  const find = () => findRegistrable(context.sql, chain.config.chainId, reviewId)
  const review = await reread(context, find, (row) => !!row?.ref_token)
  return review?.ref_token ?? null
}

/** The indexed review. Waits a few seconds when it is on the chain but not indexed yet. */
async function indexedReview(context: Context, chain: Chain, reviewId: bigint): Promise<RegistrableReview> {
  const find = () => findRegistrable(context.sql, chain.config.chainId, reviewId)
  const review = await find()
  if (review) return review
  if (!(await readOnChain(chain, reviewId))) throw refused('not found', `review ${reviewId} is not published`)
  const indexed = await reread(context, find, (row) => row !== undefined)
  if (indexed) return indexed
  throw refused('not found', `review ${reviewId} is published but not indexed yet — retry shortly`)
}

/** The review after the edit to this hash is indexed; waits a few seconds for it. */
async function editedReview(
  context: Context,
  chain: Chain,
  reviewId: bigint,
  hash: Hex,
): Promise<RegistrableReview> {
  const onChain = await readOnChain(chain, reviewId)
  if (onChain?.contentHash !== hash) {
    const what = `the text is not the one that review ${reviewId} was published with`
    throw refused('invalid input', `content hash mismatch: ${what}`)
  }
  const find = () => findRegistrable(context.sql, chain.config.chainId, reviewId)
  const review = await reread(context, find, (row) => isSame(row?.wanted_hash, hash))
  if (review && isSame(review.wanted_hash, hash)) return review
  throw refused('not found', `the edit of review ${reviewId} is not indexed yet — retry shortly`)
}

/** Reads a review from the contract; returns undefined when it does not exist. */
async function readOnChain({ rpc, config }: Chain, reviewId: bigint) {
  const read = {
    address: config.contracts.ReviewRegistry,
    abi: reviewRegistryAbi,
    functionName: 'getReview',
    args: [reviewId],
  } as const
  try {
    return await readContract({ rpc }, read)
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return undefined
    throw unavailable(`review ${reviewId}: read on-chain`, error)
  }
}

/** The purchase that the review is about; undefined for a review on an approved proof. */
async function purchaseOf(
  { sql }: Context,
  chain: Chain,
  review: RegistrableReview,
  { reviewId, escrowId }: Pick<Registration, 'reviewId' | 'escrowId'>,
): Promise<Purchase | undefined> {
  if (review.proof_kind !== OF_PURCHASE) {
    if (escrowId === 0n) return undefined
    throw refused('not found', `review ${reviewId} is not about a purchase, escrow_id must be 0`)
  }
  const purchases = await findPurchases(sql, chain.config.chainId, escrowId, review.internal_id)
  if (purchases.length === 0) {
    throw refused('not found', `purchase for escrow ${escrowId} not found (not yet indexed — retry shortly)`)
  }
  const own = purchases.filter(({ buyer_agent_id }) => buyer_agent_id === review.agent_id)
  if (own.length === 0) {
    throw refused('unauthorized', `escrow ${escrowId} does not belong to agent ${review.agent_id}`)
  }
  const reviewed = own.find(({ is_reviewed }) => is_reviewed)
  if (reviewed) return reviewed
  throw refused('not found', `review ${reviewId} is not about escrow ${escrowId}`)
}

async function requireVotes({ sql }: Context, { config }: Chain, purchase: EscrowKey): Promise<void> {
  const missing = await votesMissing(sql, config.chainId, [purchase])
  if (!missing.has(nameOf(purchase))) return
  throw refused(
    'conflict',
    `purchase ${purchase.escrow_id} needs a vote on a review of its product before its own review is registered; cast it and retry`,
  )
}

interface NewText {
  reviewId: bigint
  content: string
  hash: Buffer
  satisfaction: number
}

/**
 * Stores the text, creates its ref link and returns the link's token, unless that is left to another process. The first text of a buyer's review also becomes an opinion, whose
 * weight and support are fixed now.
 */
function attach(
  context: Context,
  chain: Chain,
  review: RegistrableReview,
  { reviewId, ...text }: NewText,
  purchase: Purchase | undefined,
): Promise<{ token: string | null; isLeft: boolean }> {
  const { chainId } = chain.config
  const { internal_id: internalId, merchant_id: merchantId, product_id: productId } = review
  return despiteDeadlock(() =>
    context.sql.begin(async (tx) => {
      const endpoint = await lockEndpoint(tx, { chainId, merchantId, productId }, lockFor(chain))
      const now = await lockText(tx, internalId)
      if (now?.known_hash?.equals(text.hash)) return { token: now.ref_token, isLeft: false }
      const linked = await findLinked(tx, internalId)
      if (!linked || !(await writeText(tx, internalId, text)))
        throw refused('conflict', `review ${reviewId} has just changed on-chain — retry`)
      if (purchase && now?.known_hash === null) {
        const authorOwner = now.author_owner ?? Buffer.alloc(0)
        await writeOpinion(tx, { chainId, internalId, authorOwner }, purchase, {
          rank: authorRankOf(linked),
          fullCommission: context.config.fullCommission,
        })
      }
      const made = await writeOrLeave(tx, chain, [linked], () => tokenOf(context, chain, endpoint, linked))
      return { token: made?.[0]?.token ?? null, isLeft: made === undefined }
    }),
  )
}

const hashOf = (review: RegistrableReview, content: string) =>
  ContentHash.contentHash({
    agentId: review.agent_id,
    merchantId: review.merchant_id,
    productId: hex(review.product_id),
    content,
  })

const isSame = (bytes: Buffer | null | undefined, hash: Hex) => !!bytes && hex(bytes) === hash
