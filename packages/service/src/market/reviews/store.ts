import type { Queryable, Transaction } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'
import { pageStart } from '../../machinery/db/page-start.ts'
import { buyerReview } from '../escrows/buyer-review.ts'

/** A review from the service's own table and the indexed chain. It is published when it is on the chain and its text is known. */
export type ReviewRow = {
  internal_id: bigint
  /** Null, like the times, when the review is not on the chain. */
  review_id: bigint | null
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  cashback_bps: number
  content: string | null
  /** Whether the content is shortened. */
  is_shortened: boolean
  satisfaction_score: number | null
  comparison_outcome: string
  published_at: Date | null
  edited_at: Date | null
  ref_token: string | null
}
export type PublishedReviewRow = ReviewRow & { review_id: bigint; content: string; published_at: Date }

/** Limit for the reviews of one product; there is no second page. */
const OF_PRODUCT = 100

/** The token, unless a reorganisation gave the review another id than the one in the token. */
const token = (sql: Queryable) => sql`CASE WHEN m.ref_review_id = c.review_id THEN m.ref_token END`

/** Whether long texts are shortened. */
export type Texts = 'whole' | 'short'

/** `isShort` is an SQL condition for the rows whose text is shortened. */
const columns = (sql: Queryable, isShort = sql`false`) => sql`
  m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.cashback_bps,
  CASE WHEN ${isShort} AND m.short_content IS NOT NULL THEN m.short_content ELSE m.content END AS content,
  ${isShort} AND m.short_content IS NOT NULL AS is_shortened, m.satisfaction_score, m.comparison_outcome, c.published_at, c.edited_at, ${token(sql)} AS ref_token`

const isShort = (sql: Queryable, texts: Texts) => (texts === 'short' ? sql`true` : sql`false`)

/** Whether a review `m` is on the chain. This is a scalar subquery because the planner would turn a join into a scan of the whole table. */
export const isOnChain = (sql: Queryable) => sql`
  (SELECT true FROM chain.reviews AS c WHERE c.internal_id = m.internal_id)`

/** One page of the published reviews, newest first, and their total number. */
export async function listReviews(
  sql: Queryable,
  chainId: number,
  { limit, offset, texts = 'whole' }: { limit: number; offset: number | bigint; texts?: Texts },
): Promise<{ rows: PublishedReviewRow[]; total: bigint }> {
  // Index-only scans from the start of the page's id range find the ids; the rows are then fetched one by one.
  const { start, to, skip } = pageStart(sql, chainId, 'published reviews', offset, 'DESC')
  const rows = await sql<({ total: bigint } & PublishedReviewRow)[]>`
    WITH total AS (
      SELECT coalesce((
        SELECT count FROM market.counts WHERE chain_id = ${chainId} AND what = 'published reviews'), 0) AS total
    ), ${start}, page AS (
      SELECT m.internal_id FROM market.reviews AS m
      WHERE m.chain_id = ${chainId} AND m.content IS NOT NULL AND m.internal_id < ${to} AND ${isOnChain(sql)}
      ORDER BY m.internal_id DESC LIMIT ${limit} OFFSET ${skip}
    )
    SELECT total.total, review.* FROM total LEFT JOIN (page CROSS JOIN LATERAL (
      SELECT ${columns(sql, isShort(sql, texts))} FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
      WHERE m.internal_id = page.internal_id LIMIT 1) AS review) ON true
    ORDER BY page.internal_id DESC`
  return { rows: rows.filter(({ internal_id }) => internal_id !== null), total: rows[0]?.total ?? 0n }
}

/** The published reviews of a product, newest first. */
export function reviewsOfProduct(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  productId: Buffer,
  texts: Texts = 'whole',
): Promise<PublishedReviewRow[]> {
  return sql<PublishedReviewRow[]>`
    SELECT ${columns(sql, isShort(sql, texts))} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND c.product_id = ${productId}
      AND m.content IS NOT NULL
    ORDER BY c.published_at DESC, c.review_id DESC LIMIT ${OF_PRODUCT}`
}

/** The reviews of an agent, published or not, newest first. */
export function reviewsOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  limit: number,
): Promise<ReviewRow[]> {
  return sql<ReviewRow[]>`
    SELECT ${columns(sql)} FROM market.reviews AS m LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.chain_id = ${chainId} AND m.agent_id = ${agentId}
    ORDER BY m.internal_id DESC LIMIT ${limit}`
}

/** Reviews by their ids on the chains. */
export function findReviews(
  sql: Queryable,
  keys: readonly { chainId: number; reviewId: bigint }[],
): Promise<(ReviewRow & { chain_id: bigint; review_id: bigint })[]> {
  return sql<(ReviewRow & { chain_id: bigint; review_id: bigint })[]>`
    SELECT m.chain_id, ${columns(sql)} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE (c.chain_id, c.review_id) IN (
      SELECT * FROM unnest(${keys.map(({ chainId }) => chainId)}::bigint[], ${keys.map(({ reviewId }) => reviewId)}::bigint[]))`
}

/** Reviews by their internal ids, on the chain or not. */
export function findReviewRecords(
  sql: Queryable,
  internalIds: readonly bigint[],
  /** Internal ids of the reviews whose text is shortened. */
  short: readonly bigint[] = [],
): Promise<(ReviewRow & { chain_id: bigint })[]> {
  const areShort = short.length === 0 ? sql`false` : sql`m.internal_id = ANY(${[...short]}::bigint[])`
  return sql<(ReviewRow & { chain_id: bigint })[]>`
    SELECT m.chain_id, ${columns(sql, areShort)} FROM market.reviews AS m LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.internal_id = ANY(${[...internalIds]}::bigint[])`
}

/** The tokens of published reviews' ref links. Null: it has none. */
export function findRefTokens(
  sql: Queryable,
  internalIds: readonly bigint[],
): Promise<{ internal_id: bigint; ref_token: string | null }[]> {
  return sql<{ internal_id: bigint; ref_token: string | null }[]>`
    SELECT m.internal_id, ${token(sql)} AS ref_token FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
    WHERE m.internal_id = ANY(${[...internalIds]}::bigint[]) AND m.content IS NOT NULL`
}

/** The data of a review that registering its text needs. */
export type RegistrableReview = {
  internal_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  proof_kind: number
  proof_id: bigint
  /** Null when the review was never edited. */
  edited_at: Date | null
  /** Hash of the text on the chain (`wanted_hash`) and of the stored text (`known_hash`, null when there is none). */
  wanted_hash: Buffer
  known_hash: Buffer | null
  ref_token: string | null
  /** Category of the product. */
  category: string
}

/** A review by its id on the chain. */
export async function findRegistrable(
  sql: Queryable,
  chainId: number,
  reviewId: bigint,
): Promise<RegistrableReview | undefined> {
  const [row] = await sql<RegistrableReview[]>`
    SELECT c.internal_id, c.agent_id, c.merchant_id, c.product_id, c.proof_kind, c.proof_id, c.edited_at,
      c.content_hash AS wanted_hash, CASE WHEN m.content IS NOT NULL THEN m.content_hash END AS known_hash,
      ${token(sql)} AS ref_token, coalesce(p.category, '') AS category
    FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    LEFT JOIN market.products AS p
      ON (p.chain_id, p.merchant_id, p.product_id) = (c.chain_id, c.merchant_id, c.product_id)
    WHERE c.chain_id = ${chainId} AND c.review_id = ${reviewId}`
  return row
}

export type LockedText = {
  known_hash: Buffer | null
  ref_token: string | null
  /** The author's owner at publication. */
  author_owner: Buffer | null
}

/** Locks the review's row until the transaction ends, and reads the hash of its text. */
export async function lockText(tx: Transaction, internalId: bigint): Promise<LockedText | undefined> {
  await tx`SELECT FROM market.reviews WHERE internal_id = ${internalId} FOR UPDATE`
  const [row] = await tx<LockedText[]>`
    SELECT m.author_owner, CASE WHEN m.content IS NOT NULL THEN m.content_hash END AS known_hash, ${token(tx)} AS ref_token
    FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id) WHERE m.internal_id = ${internalId}`
  return row
}

export interface Text {
  content: string
  hash: Buffer
  satisfaction: number
}

/** Stores the text of a review; returns false when its hash is not, or no longer, the one on the chain. */
export async function writeText(tx: Transaction, internalId: bigint, text: Text): Promise<boolean> {
  const { count } = await tx`
    UPDATE market.reviews AS m SET content = ${text.content}, content_hash = ${text.hash},
      satisfaction_score = ${text.satisfaction}
    WHERE m.internal_id = ${internalId} AND EXISTS (
      SELECT FROM chain.reviews AS c WHERE c.internal_id = m.internal_id AND c.content_hash = ${text.hash})`
  return count > 0
}

export type Purchase = {
  contract: Buffer
  escrow_id: bigint
  /** Null when the buyer is a wallet without an agent. */
  buyer_agent_id: bigint | null
  merchant_id: bigint
  product_id: Buffer
  price: bigint
  commission: bigint
  deposited_at: Date
  /** Whether the review is about it. */
  is_reviewed: boolean
}

/**
 * The purchases with this escrow id, newest first, and whether a review is about them. Each deployment of the escrow contract counts from 1,
 * so there can be several.
 */
export function findPurchases(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
  internalId: bigint,
): Promise<Purchase[]> {
  return sql<Purchase[]>`
    SELECT e.contract, e.escrow_id, e.buyer_agent_id, e.merchant_id, e.product_id, e.price, e.commission, e.deposited_at,
      EXISTS (SELECT FROM ${buyerReview(sql, chainId)} AND c.internal_id = ${internalId}) AS is_reviewed
    FROM chain.escrows AS e
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrowId} ORDER BY ${whenBought(sql)} DESC`
}
