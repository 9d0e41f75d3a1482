import type { Queryable } from '@referrer/database'

/** What the caller wants to see only. */
export interface Filters {
  /** Exactly. */
  category: string | undefined
  /** In base units: what is known to cost more is left out. */
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
  /** Null: not known. */
  price: bigint | null
  review_count: number
  /** Records of the reviews that may be shown. */
  shortlist: bigint[]
  /** Null: its category has none. */
  checklist: string[] | null
}

/** Of the best-ranked products so many are looked at, whether they pass or not. */
const LOOKED_AT = 1_000

/** Those of the products that are open and pass. */
export function findOpen(
  sql: Queryable,
  chainId: number,
  keys: readonly { merchantId: bigint; productId: Buffer }[],
  filters: Filters,
): Promise<ProductRow[]> {
  return sql<ProductRow[]>`
    SELECT product.* FROM unnest(
      ${keys.map(({ merchantId }) => merchantId)}::bigint[], ${keys.map(({ productId }) => productId)}::bytea[]
    ) AS k (merchant_id, product_id), LATERAL (${product(sql, chainId, filters)}) AS product`
}

/** The best-ranked that are open and pass. */
export function bestRanked(
  sql: Queryable,
  chainId: number,
  filters: Filters,
  most: number,
): Promise<ProductRow[]> {
  const { category } = filters
  return sql<ProductRow[]>`
    SELECT product.* FROM (
      SELECT merchant_id, product_id, rank FROM market.products
      WHERE chain_id = ${chainId} ${category === undefined ? sql`` : sql`AND category = ${category}`}
      ORDER BY rank DESC, merchant_id, product_id LIMIT ${LOOKED_AT}
    ) AS k, LATERAL (${product(sql, chainId, filters)}) AS product
    ORDER BY k.rank DESC, k.merchant_id, k.product_id LIMIT ${most}`
}

/** The product of `k`. A subquery of one row is looked up product by product; as joins they would be done for whole tables. */
const product = (sql: Queryable, chainId: number, { category, ceiling }: Filters) => sql`
  SELECT p.merchant_id, p.product_id, p.name, p.category, p.rank, c.product_type, o.price, l.review_count, l.shortlist,
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

/** A published review, without its text. */
export type PublishedRow = {
  internal_id: bigint
  agent_id: bigint
  satisfaction_score: number | null
  published_at: Date
  flagged: boolean
  repeat: number | null
  one_off: number | null
  is_own: boolean
  transferred_at: Date | null
  /** Of its text; null: there is none, or none was asked for. */
  vector: Buffer | null
}

/** Those of the records that are published, with their vectors of this model. */
export function findPublished(
  sql: Queryable,
  internalIds: readonly bigint[],
  embedderId: string | undefined,
): Promise<PublishedRow[]> {
  return sql<PublishedRow[]>`
    SELECT review.* FROM unnest(${[...internalIds]}::bigint[]) AS k (internal_id), LATERAL (
      SELECT m.internal_id, m.agent_id, m.satisfaction_score, c.published_at, coalesce(a.flagged, false) AS flagged, r.repeat, r.one_off,
        merchant.owner IN (author.owner, m.author_owner) IS TRUE AS is_own, author.transferred_at,
        ${embedderId === undefined ? sql`NULL` : sql`v.vector`} AS vector
      FROM market.reviews AS m
      JOIN chain.reviews AS c USING (internal_id)
      LEFT JOIN chain.identities AS author ON (author.chain_id, author.agent_id) = (m.chain_id, m.agent_id)
      LEFT JOIN chain.identities AS merchant ON (merchant.chain_id, merchant.agent_id) = (m.chain_id, m.merchant_id)
      LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
      LEFT JOIN market.review_ranks AS r ON (r.chain_id, r.agent_id) = (m.chain_id, m.agent_id)
      ${embedderId === undefined ? sql`` : sql`LEFT JOIN market.review_vectors AS v ON v.embedder_id = ${embedderId} AND v.internal_id = m.internal_id`}
      WHERE m.internal_id = k.internal_id AND m.content IS NOT NULL LIMIT 1) AS review`
}
