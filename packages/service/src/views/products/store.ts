import type { Queryable } from '@referrer/database'
import { BASE_RATES } from '@referrer/ranking'
import type { ProductKey } from '../../kit/keys.ts'
import type { Page } from '../../machinery/db/page.ts'
import { BY_ESCROW } from '../../market/escrows/buyer-review.ts'
import { LONGEST_LIST } from '../page.ts'
import { type FiguresRow, figuresColumns, figuresJoin } from '../reviews.ts'

const DESCRIPTION = 280

export type ProductCardRow = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  description: string
  category: string
  endpoint_url: string | null
  rank: number
  commission_bps: number
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  /** Null: unknown. */
  price: bigint | null
  review_count: bigint
  sales_count: bigint
}

export interface ProductFilter {
  merchantId: bigint | undefined
  productId: Buffer | undefined
  category: string | undefined
}

/** Open products, best first. Open and closed ones together, at most `LONGEST_LIST` are looked at. */
export function openProducts(
  sql: Queryable,
  chainId: number,
  { merchantId, productId, category }: ProductFilter,
  { limit, offset }: Page,
): Promise<ProductCardRow[]> {
  // LATERAL … LIMIT 1 forces an index lookup per product; with joins the planner may scan whole tables.
  return sql<ProductCardRow[]>`
    WITH page AS (
      SELECT best.* FROM (
        SELECT merchant_id, product_id, rank FROM market.products
        WHERE chain_id = ${chainId} ${merchantId === undefined ? sql`` : sql`AND merchant_id = ${merchantId}`}
          ${productId === undefined ? sql`` : sql`AND product_id = ${productId}`}
          ${category === undefined ? sql`` : sql`AND category = ${category}`}
        ORDER BY rank DESC, merchant_id, product_id LIMIT ${LONGEST_LIST}
      ) AS best, LATERAL (
        SELECT FROM market.listings AS l
        WHERE l.chain_id = ${chainId} AND l.merchant_id = best.merchant_id AND l.product_id = best.product_id AND l.is_open LIMIT 1
      ) AS open
      ORDER BY rank DESC, merchant_id, product_id LIMIT ${limit} OFFSET ${offset}
    )
    SELECT product.* FROM page, LATERAL (
      SELECT p.merchant_id, p.product_id, p.name, p.category, p.endpoint_url, p.rank, c.commission_bps, c.product_type, o.price,
        CASE WHEN length(p.description) > ${DESCRIPTION} THEN left(p.description, ${DESCRIPTION - 1}) || '…' ELSE p.description END
          AS description,
        coalesce(r.count, 0) AS review_count, coalesce(s.conversions, 0) AS sales_count
      FROM market.products AS p JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
      LEFT JOIN market.product_reviews AS r USING (chain_id, merchant_id, product_id)
      LEFT JOIN market.product_sales AS s USING (chain_id, merchant_id, product_id)
      LEFT JOIN market.offers AS o
        ON (o.chain_id, o.merchant_id, o.product_id, o.endpoint_url) = (p.chain_id, p.merchant_id, p.product_id, p.endpoint_url)
      WHERE p.chain_id = ${chainId} AND p.merchant_id = page.merchant_id AND p.product_id = page.product_id LIMIT 1) AS product
    ORDER BY page.rank DESC, page.merchant_id, page.product_id`
}

/** Whether the product is on the chain, open or closed. */
export async function isProduct(
  sql: Queryable,
  { chainId, merchantId, productId }: ProductKey,
): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM chain.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}`
  return count > 0
}

export type ReviewOfProductRow = FiguresRow & { agent_id: bigint; is_buyer_review: boolean }

/** So many of the newest reviews of a product are sorted, besides those of the best authors, which its shortlist has. */
export const NEWEST = 1_000

/** Those of the best authors first, or the newest; of the same rank the newest first, too. */
export type ReviewOrder = 'best' | 'newest'

/** The published reviews of a product. */
export function publishedAbout(
  sql: Queryable,
  key: ProductKey,
  order: ReviewOrder,
  part: Page,
): Promise<ReviewOfProductRow[]> {
  return sql<ReviewOfProductRow[]>`
    ${order === 'best' ? bestPage(sql, key, part) : newestPage(sql, key, part)}
    SELECT ${figuresColumns(sql, key.chainId)}, page.agent_id, page.proof_kind = ${BY_ESCROW} AS is_buyer_review
    FROM page ${figuresJoin(sql)} ORDER BY page.rank DESC, page.published_at DESC, page.review_id DESC`
}

function bestPage(sql: Queryable, { chainId, merchantId, productId }: ProductKey, { limit, offset }: Page) {
  return sql`
    WITH product AS (
      SELECT product_type, ARRAY(
        SELECT unnest(l.shortlist) FROM market.listings AS l
        WHERE l.chain_id = ${chainId} AND l.merchant_id = ${merchantId} AND l.product_id = ${productId}) AS shortlist
      FROM chain.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}
    ), candidates AS (
      (SELECT internal_id FROM chain.reviews
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}
        ORDER BY published_at DESC, review_id DESC LIMIT ${NEWEST})
      UNION SELECT unnest(shortlist) FROM product
    ), page AS (
      SELECT review.* FROM product, candidates, LATERAL (
        SELECT m.internal_id, m.agent_id, m.proof_kind, c.review_id, c.published_at,
          CASE WHEN a.flagged THEN 0 WHEN product.product_type = 1 THEN coalesce(r.one_off, ${BASE_RATES.one_off}::float8)
            ELSE coalesce(r.repeat, ${BASE_RATES.repeat}::float8) END AS rank
        FROM market.reviews AS m JOIN chain.reviews AS c USING (internal_id)
        LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
        LEFT JOIN market.review_ranks AS r ON (r.chain_id, r.agent_id) = (m.chain_id, m.agent_id)
        WHERE m.internal_id = candidates.internal_id AND m.content IS NOT NULL LIMIT 1) AS review
      ORDER BY review.rank DESC, review.published_at DESC, review.review_id DESC LIMIT ${limit} OFFSET ${offset}
    )`
}

/** With or without their texts, at most `LONGEST_LIST` are looked at. */
function newestPage(sql: Queryable, { chainId, merchantId, productId }: ProductKey, { limit, offset }: Page) {
  return sql`
    WITH page AS (
      SELECT c.*, 0 AS rank FROM (
        SELECT internal_id, agent_id, proof_kind, review_id, published_at FROM chain.reviews
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}
        ORDER BY published_at DESC, review_id DESC LIMIT ${LONGEST_LIST}
      ) AS c
      -- A scalar subquery, because the planner may turn a join into a scan of the whole table.
      WHERE (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)
      ORDER BY c.published_at DESC, c.review_id DESC LIMIT ${limit} OFFSET ${offset}
    )`
}

/** Totals of opinions; the mean is the one that ranks of all products begin from today, null when none is known. */
export type OpinionsRow = { opinions: number; weight: bigint; weighted: bigint; mean: number | null }

export async function opinionsOf(
  sql: Queryable,
  { chainId, merchantId, productId }: ProductKey,
): Promise<OpinionsRow> {
  const [row] = await sql<[OpinionsRow]>`
    SELECT coalesce(t.opinions, 0) AS opinions, coalesce(t.weight, 0)::bigint AS weight, coalesce(t.weighted, 0) AS weighted, o.mean
    FROM (SELECT) AS one
    LEFT JOIN market.product_totals AS t
      ON t.chain_id = ${chainId} AND t.merchant_id = ${merchantId} AND t.product_id = ${productId}
    LEFT JOIN market.opinion_totals AS o ON o.chain_id = ${chainId}`
  return row
}

export type OpinionDayRow = { day: string; opinions: number; weight: bigint; weighted: bigint }

/** The present opinions of a product by the day of their reviews, from the day `first` on. */
export const opinionDays = (sql: Queryable, { chainId, merchantId, productId }: ProductKey, first: string) =>
  sql<OpinionDayRow[]>`
    SELECT day::text, opinions, weight, weighted FROM market.opinion_days
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId} AND day >= ${first}::text::date
      AND opinions > 0
    ORDER BY day`

export type SalesDayRow = { day: string; count: bigint; revenue: bigint }

/** The days from `first` on on which a product was sold. */
export const salesDays = (sql: Queryable, { chainId, merchantId, productId }: ProductKey, first: string) =>
  sql<SalesDayRow[]>`
    SELECT day::text, count, revenue FROM market.daily_sales
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId} AND day >= ${first}::text::date
      AND count > 0
    ORDER BY day`

/** The categories with the most open products. */
export const largestCategories = (sql: Queryable, chainId: number, most: number) =>
  sql<{ category: string; count: bigint }[]>`
    SELECT category, count FROM market.category_products
    WHERE chain_id = ${chainId} AND count > 0 AND category <> '' ORDER BY count DESC, category LIMIT ${most}`
