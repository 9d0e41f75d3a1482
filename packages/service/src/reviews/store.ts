import type { Queryable } from '@referrer/database'
import { countOf } from '../db/counts.ts'
import type { Page } from '../db/page.ts'

/** A review as the records and the chain tell it. It is published when it is on the chain and its text is known. */
export type ReviewRow = {
  internal_id: bigint
  /** Null, as are the times: not on the chain. */
  review_id: bigint | null
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  cashback_bps: number
  content: string | null
  satisfaction_score: number | null
  comparison_outcome: string
  published_at: Date | null
  edited_at: Date | null
  ref_token: string | null
}
export type PublishedReviewRow = ReviewRow & { review_id: bigint; content: string; published_at: Date }

/** At most this many of one product; there is no second page. */
const OF_PRODUCT = 100

const columns = (sql: Queryable) => sql`
  m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.cashback_bps, m.content, m.satisfaction_score,
  m.comparison_outcome, c.published_at, c.edited_at, m.ref_token`

/** Of a row of the chain. As a value it is looked up row by row; as a join it would be done for the whole table at once. */
const hasText = (sql: Queryable) => sql`
  (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)`

/** Those that are published, newest record first. */
export function listReviews(
  sql: Queryable,
  chainId: number,
  { limit, offset }: Page,
): Promise<PublishedReviewRow[]> {
  // The page is found in indexes alone, so that what is skipped is not read; its rows are then fetched one by one.
  return sql<PublishedReviewRow[]>`
    WITH page AS (
      SELECT m.internal_id FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
      WHERE m.chain_id = ${chainId} AND m.content IS NOT NULL
      ORDER BY m.internal_id DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT review.* FROM page, LATERAL (
      SELECT ${columns(sql)} FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
      WHERE m.internal_id = page.internal_id LIMIT 1) AS review
    ORDER BY page.internal_id DESC`
}

/** Of those that are published. */
export const countReviews = (sql: Queryable, chainId: number) => countOf(sql, chainId, 'published reviews')

/** Those of a product that are published, newest first. */
export function reviewsOfProduct(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  productId: Buffer,
): Promise<PublishedReviewRow[]> {
  return sql<PublishedReviewRow[]>`
    SELECT ${columns(sql)} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND c.product_id = ${productId}
      AND m.content IS NOT NULL
    ORDER BY c.published_at DESC, c.review_id DESC LIMIT ${OF_PRODUCT}`
}

/** What the records know of an agent's reviews, published or not, newest first. */
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

/** How many an agent has published. */
export async function countReviewsOfAgent(sql: Queryable, chainId: number, agentId: bigint): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) FROM chain.reviews AS c
    WHERE c.chain_id = ${chainId} AND c.agent_id = ${agentId} AND ${hasText(sql)}`
  return row?.count ?? 0n
}

/** The products of which an agent has published a review. */
export function productsReviewedBy(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<{ merchant_id: bigint; product_id: Buffer }[]> {
  return sql<{ merchant_id: bigint; product_id: Buffer }[]>`
    SELECT DISTINCT c.merchant_id, c.product_id FROM chain.reviews AS c
    WHERE c.chain_id = ${chainId} AND c.agent_id = ${agentId} AND ${hasText(sql)}
    ORDER BY c.merchant_id, c.product_id`
}

/** By the id that it has on the chain. */
export async function findReview(
  sql: Queryable,
  chainId: number,
  reviewId: bigint,
): Promise<ReviewRow | undefined> {
  const [row] = await sql<ReviewRow[]>`
    SELECT ${columns(sql)} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.review_id = ${reviewId}`
  return row
}

/** By the id of its record, whether it is on the chain or not. */
export async function findReviewRecord(
  sql: Queryable,
  chainId: number,
  internalId: bigint,
): Promise<ReviewRow | undefined> {
  const [row] = await sql<ReviewRow[]>`
    SELECT ${columns(sql)} FROM market.reviews AS m LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.internal_id = ${internalId} AND m.chain_id = ${chainId}`
  return row
}
