import type { Queryable } from '@referrer/database'
import { readKey } from '@referrer/search'

/** The caller's filters. */
export interface Filters {
  /** Compared exactly. */
  category: string | undefined
  /** In base units: products known to cost more are left out. */
  ceiling: number | undefined
}

/** A product that can be bought. */
export type ProductRow = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  category: string
  rank: number
  /** 0 repeat, 1 one-off */
  product_type: number
  /** Null: unknown. */
  price: bigint | null
  review_count: number
  /** Null: its category has no checklist. */
  checklist: string[] | null
}

/**
 * Upper limits of what is read: this many of the best-ranked products (open or closed), then this many open ones
 * (before the filters).
 */
const RANKED = 5_000
const LOOKED_AT = 1_000

/**
 * The products of these keys. The arrays are in subqueries, which hide their length from the planner. So one generic plan is cached instead of a
 * new plan for each request.
 */
export const products = (sql: Queryable, keys: readonly string[]) => {
  const ids = keys.map(readKey)
  return sql`
    unnest((SELECT ${ids.map((id) => id.merchantId)}::bigint[]), (SELECT ${ids.map((id) => id.productId)}::bytea[]))`
}

/** The given products that are open and pass the filters. */
export function findOpen(
  sql: Queryable,
  chainId: number,
  keys: readonly string[],
  filters: Filters,
): Promise<ProductRow[]> {
  return sql<ProductRow[]>`
    SELECT product.* FROM ${products(sql, keys)} AS k (merchant_id, product_id), LATERAL (${product(sql, chainId, filters)}) AS product`
}

/** The best-ranked products that are open and pass the filters. */
export function bestRanked(
  sql: Queryable,
  chainId: number,
  filters: Filters,
  most: number,
): Promise<ProductRow[]> {
  const { category } = filters
  return sql<ProductRow[]>`
    SELECT product.* FROM (
      SELECT best.* FROM (
        SELECT merchant_id, product_id, rank FROM market.products
        WHERE chain_id = ${chainId} ${category === undefined ? sql`` : sql`AND category = ${category}`}
        ORDER BY rank DESC, merchant_id, product_id LIMIT ${RANKED}
      ) AS best, LATERAL (
        SELECT FROM market.listings AS l
        WHERE l.chain_id = ${chainId} AND l.merchant_id = best.merchant_id AND l.product_id = best.product_id AND l.is_open LIMIT 1
      ) AS open
      ORDER BY rank DESC, merchant_id, product_id LIMIT ${LOOKED_AT}
    ) AS k, LATERAL (${product(sql, chainId, filters)}) AS product
    ORDER BY k.rank DESC, k.merchant_id, k.product_id LIMIT ${most}`
}

/**
 * The product of row `k`. LATERAL … LIMIT 1 forces an index lookup per product; with joins the planner may scan whole
 * tables.
 */
const product = (sql: Queryable, chainId: number, { category, ceiling }: Filters) => sql`
  SELECT p.merchant_id, p.product_id, p.name, p.category, p.rank, c.product_type, o.price, l.review_count,
    checklist.items AS checklist
  FROM market.products AS p
  JOIN market.listings AS l USING (chain_id, merchant_id, product_id)
  JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
  LEFT JOIN market.offers AS o
    ON (o.chain_id, o.merchant_id, o.product_id, o.endpoint_url) = (p.chain_id, p.merchant_id, p.product_id, p.endpoint_url)
  LEFT JOIN market.checklists AS checklist ON checklist.category = p.category
  WHERE p.chain_id = ${chainId} AND p.merchant_id = k.merchant_id AND p.product_id = k.product_id AND l.is_open
    ${category === undefined ? sql`` : sql`AND p.category = ${category}`}
    ${ceiling === undefined ? sql`` : sql`AND coalesce(o.price, c.min_price) <= ${ceiling}`}
  LIMIT 1`

/** A published review without its text. */
export type PublishedRow = {
  /** The index of its product in the list that was asked for. */
  at: number
  /** The review count of the product when this row was read. */
  review_count: number
  internal_id: bigint
  agent_id: bigint
  satisfaction_score: number | null
  published_at: Date
  /** The author's flag, ranks and last transfer. */
  flagged: boolean
  repeat: number | null
  one_off: number | null
  transferred_at: Date | null
  /** The author's present owner, else the one at publication; null: unknown. */
  owner: Buffer | null
  /** Whether the merchant's owner owns the author, or did when the review was published. */
  is_own: boolean
  /** The vector of its text; null: there is none, or none was asked for. */
  vector: Buffer | null
}

/** The reviews on the shortlists of products, with their vectors by this model. */
export function findShortlisted(
  sql: Queryable,
  chainId: number,
  keys: readonly string[],
  embedderId: string | undefined,
): Promise<PublishedRow[]> {
  const vector =
    embedderId !== undefined &&
    sql`
    LEFT JOIN market.review_vectors AS v ON v.embedder_id = ${embedderId} AND v.internal_id = m.internal_id`
  return sql<PublishedRow[]>`
    SELECT k.at::int - 1 AS at, listing.review_count, review.*
    FROM ${products(sql, keys)} WITH ORDINALITY AS k (merchant_id, product_id, at), LATERAL (
      SELECT l.shortlist, l.review_count, merchant.owner
      FROM market.listings AS l
      LEFT JOIN chain.identities AS merchant ON (merchant.chain_id, merchant.agent_id) = (l.chain_id, l.merchant_id)
      WHERE l.chain_id = ${chainId} AND l.merchant_id = k.merchant_id AND l.product_id = k.product_id LIMIT 1
    ) AS listing, unnest(listing.shortlist) AS s (internal_id), LATERAL (
      SELECT m.internal_id, m.agent_id, m.satisfaction_score, c.published_at, coalesce(a.flagged, false) AS flagged, r.repeat, r.one_off,
        author.transferred_at, coalesce(author.owner, m.author_owner) AS owner, listing.owner IN (author.owner, m.author_owner) IS TRUE AS is_own, ${vector ? sql`v.vector` : sql`NULL`} AS vector
      FROM market.reviews AS m
      JOIN chain.reviews AS c USING (internal_id)
      LEFT JOIN chain.identities AS author ON (author.chain_id, author.agent_id) = (m.chain_id, m.agent_id)
      LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
      LEFT JOIN market.review_ranks AS r ON (r.chain_id, r.agent_id) = (m.chain_id, m.agent_id)
      ${vector || sql``}
      WHERE m.internal_id = s.internal_id AND m.content IS NOT NULL LIMIT 1) AS review`
}
