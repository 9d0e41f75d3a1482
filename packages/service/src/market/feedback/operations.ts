// ERC-8004 feedback: what others left in the network's reputation registry, and our reviews as files for it. Nothing here counts in ranks,
// standings or discovery.
import { createLoader } from '@referrer/process'
import { Feedback } from '@referrer/protocol'
import type { Address } from 'viem'
import { z } from 'zod'
import { coalesceInTurns } from '../../kit/coalesce.ts'
import { type Chain, type Context, once } from '../../kit/context.ts'
import { accountShown, hex32, momentShown, wholeNumber } from '../../kit/fields.ts'
import { address, hex, time, whole } from '../../kit/json-values.ts'
import { refused } from '../../kit/market-error.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { offsetOf } from '../../machinery/db/page.ts'
import { KEPT_OF_AGENT } from './mirror.ts'
import { type FeedbackRow, findPurchaseReviews, findSubject, listFeedback, type ReviewRow } from './store.ts'

export const FeedbackEntry = z.object({
  client_address: accountShown,
  feedback_index: wholeNumber.meta({ about: 'Which one of this client about this agent, from 1.' }),
  value: z.string().meta({
    about: 'Times 10^value_decimals.',
    shown: { type: 'string', pattern: '^-?[0-9]{1,39}$' },
  }),
  value_decimals: wholeNumber,
  tag1: z.string(),
  tag2: z.string(),
  endpoint: z.string(),
  feedback_uri: z.string(),
  feedback_hash: hex32,
  given_at: momentShown,
  is_revoked: z.boolean(),
  is_mirror: z
    .boolean()
    .meta({ about: 'It repeats a published review of this market, given by the author of the review.' }),
  review_id: wholeNumber.optional().meta({ about: 'Of a mirror: the review, by its id on the chain.' }),
})

export const FeedbackList = z
  .object({
    feedback: z.array(FeedbackEntry),
    given: wholeNumber.meta({ about: 'How much there was since this chain is indexed, kept or not.' }),
    revoked: wholeNumber,
    registry: accountShown
      .optional()
      .meta({ about: 'The reputation registry; left out where the chain has none here.' }),
    page: wholeNumber,
    limit: wholeNumber,
    has_more: z.boolean().meta({ about: 'Whether there is more after these.' }),
  })
  .meta({ id: 'FeedbackList' })

type FeedbackList = z.output<typeof FeedbackList>

interface Question {
  agentId: bigint
  client?: Address | undefined
  page: number
  limit: number
  /** Whether it must be a merchant of this market. */
  isMerchant: boolean
}

/** How many a page has, and has at most. */
export const LIMIT = 20
export const MOST = 100

/** How many pages are read at once: everybody may ask. */
const READ_AT_ONCE = 4

/** Feedback about an agent, newest first. */
export const feedbackOf = (context: Context, chain: Chain, question: Question): Promise<FeedbackList> =>
  readLists(context)({ ...question, chain })

const readLists = once((context) =>
  coalesceInTurns<Question & { chain: Chain }, FeedbackList>(
    READ_AT_ONCE,
    ({ chain, agentId, client, page, limit, isMerchant }) =>
      [chain.config.chainId, agentId, client, page, limit, isMerchant].join('/'),
    (question) => readList(context, question),
  ),
)

async function readList(
  context: Context,
  { chain, agentId, client, page, limit, isMerchant }: Question & { chain: Chain },
): Promise<FeedbackList> {
  const { sql, config, recovery } = context
  const { chainId, contracts } = chain.config
  const offset = offsetOf({ page, limit })
  const [subject, rows] = await Promise.all([
    findSubject(sql, chainId, agentId),
    offset < KEPT_OF_AGENT
      ? listFeedback(sql, chainId, agentId, { limit: limit + 1, offset, client: client && bytesOf(client) })
      : [],
  ])
  if (!subject) throw refused('not found', `agent ${agentId} not found`)
  if (isMerchant && !subject.is_merchant) throw refused('not found', `merchant ${agentId} not found`)
  const named = rows.map((row) => Feedback.reviewIn(config.publicUrl, chainId, row.feedback_uri))
  const ids = [...new Set(named.filter((id) => id !== undefined))]
  const found = ids.length === 0 ? [] : await findPurchaseReviews(sql, chainId, ids)
  const reviews = new Map(found.map((review) => [review.review_id, review]))
  const entries = rows.map((row, at) => {
    const review = reviews.get(named[at] ?? -1n)
    const isMirror = review !== undefined && isMirrorOf(row, agentId, review)
    return {
      client_address: address(recovery, row.client),
      feedback_index: whole(row.feedback_index),
      value: row.value,
      value_decimals: row.value_decimals,
      tag1: row.tag1,
      tag2: row.tag2,
      endpoint: row.endpoint,
      feedback_uri: row.feedback_uri,
      feedback_hash: hex(row.feedback_hash),
      given_at: time(row.given_at),
      is_revoked: row.is_revoked,
      is_mirror: isMirror,
      ...(isMirror && { review_id: whole(review.review_id) }),
    }
  })
  return {
    feedback: entries.slice(0, limit),
    given: whole(subject.given),
    revoked: whole(subject.revoked),
    ...(contracts.ReputationRegistry && { registry: contracts.ReputationRegistry }),
    page,
    limit,
    has_more: entries.length > limit,
  }
}

/** Anybody may name the URL of a review: its author must have given it, about the same merchant and with the same rating. */
const isMirrorOf = (row: FeedbackRow, agentId: bigint, review: ReviewRow): boolean =>
  review.merchant_id === agentId &&
  review.author_owner.equals(row.client) &&
  row.value_decimals === 0 &&
  Number(row.value) === Feedback.scoreOf(ratingOf(review))

/** The satisfaction is the rating on a scale of 0 to 1. */
const ratingOf = ({ satisfaction_score }: ReviewRow) => Math.round(satisfaction_score * 4) + 1

/** A review of a purchase in the standard's form. Its text is the same at every call, until the author edits the review. */
export async function feedbackFile(
  context: Context,
  { config: { chainId, contracts } }: Chain,
  reviewId: bigint,
): Promise<string> {
  const review = await readReviews(context)({ chainId, reviewId })
  if (!review) throw refused('not found', `review ${reviewId} of a purchase not found`)
  return Feedback.serialize({
    chainId,
    identityRegistry: contracts.IdentityRegistry,
    merchantId: review.merchant_id,
    client: address(context.recovery, review.author_owner),
    createdAt: Math.floor(review.published_at.getTime() / 1_000),
    rating: ratingOf(review),
    reviewId,
    agentId: review.agent_id,
    productId: hex(review.product_id),
    content: review.content,
    payment: {
      from: address(context.recovery, review.payer),
      escrow: address(context.recovery, review.escrow),
      transaction: hex(review.transaction_hash),
    },
  })
}

const readReviews = once(({ sql }) =>
  createLoader<{ chainId: number; reviewId: bigint }, ReviewRow | undefined>({
    keyOf: ({ chainId, reviewId }) => `${chainId}/${reviewId}`,
    load: async (keys) => {
      const byChain = Map.groupBy(keys, ({ chainId }) => chainId)
      const read = async ([chainId, some]: [number, typeof keys]) => {
        const rows = await findPurchaseReviews(
          sql,
          chainId,
          some.map(({ reviewId }) => reviewId),
        )
        return rows.map((row) => [`${chainId}/${row.review_id}`, row] as const)
      }
      const found = new Map((await Promise.all([...byChain].map(read))).flat())
      return keys.map(({ chainId, reviewId }) => found.get(`${chainId}/${reviewId}`))
    },
  }),
)
