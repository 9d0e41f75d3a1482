import type { Queryable, Transaction } from '@referrer/database'
import type { ProductKey } from '../../kit/keys.ts'

/** The data of a ref link's token, except for the product's endpoint. */
export type LinkedReview = {
  internal_id: bigint
  review_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  cashback_bps: number
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  /** Whether the review's author is flagged. */
  flagged: boolean
  repeat: number | null
  one_off: number | null
}

/** A review with the inputs of its present token (`ref_key`, `ref_review_id`). */
export type PublishedReview = LinkedReview & {
  endpoint_url: string | null
  ref_key: string | null
  ref_review_id: bigint | null
}

const linked = (sql: Queryable) => sql`
  SELECT m.internal_id, m.chain_id, m.ref_key, m.ref_review_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.cashback_bps, product.product_type,
    coalesce(a.flagged, false) AS flagged, rank.repeat, rank.one_off
  FROM market.reviews AS m
  JOIN chain.reviews AS c USING (internal_id)
  JOIN chain.products AS product
    ON (product.chain_id, product.merchant_id, product.product_id) = (m.chain_id, m.merchant_id, m.product_id)
  LEFT JOIN market.agents AS a ON (a.chain_id, a.agent_id) = (m.chain_id, m.agent_id)
  LEFT JOIN market.review_ranks AS rank ON (rank.chain_id, rank.agent_id) = (m.chain_id, m.agent_id)`

export async function findLinked(tx: Transaction, internalId: bigint): Promise<LinkedReview | undefined> {
  const [row] = await tx<LinkedReview[]>`${linked(tx)} WHERE m.internal_id = ${internalId}`
  return row
}

/** The published ones of these reviews, with their products' endpoints. Locks the endpoints until the transaction ends. */
export function lockPublished(
  tx: Transaction,
  internalIds: readonly bigint[],
  lock: 'one review' | 'all',
): Promise<PublishedReview[]> {
  return tx<PublishedReview[]>`
    SELECT review.*, p.endpoint_url FROM (${linked(tx)} WHERE m.internal_id = ANY(${[...internalIds]}::bigint[]) AND m.content IS NOT NULL) AS review
    JOIN market.products AS p USING (chain_id, merchant_id, product_id)
    ORDER BY merchant_id, product_id, internal_id ${lock === 'all' ? tx`FOR NO KEY UPDATE OF p` : tx`FOR SHARE OF p`}`
}

/** Reviews of a product whose token is outdated, newest first, with ids less than `below`. Locks them. */
export function findToLink(
  tx: Transaction,
  { chainId, merchantId, productId }: ProductKey,
  { tokenKey, below, limit }: { tokenKey: string; below: bigint; limit: number },
): Promise<LinkedReview[]> {
  return tx<LinkedReview[]>`
    ${linked(tx)}
    WHERE m.chain_id = ${chainId} AND m.merchant_id = ${merchantId} AND m.product_id = ${productId}
      AND m.content IS NOT NULL AND m.internal_id < ${below}
      AND (m.ref_key IS DISTINCT FROM ${tokenKey} OR m.ref_review_id <> c.review_id)
    ORDER BY m.internal_id DESC LIMIT ${limit} FOR UPDATE OF m`
}

export interface Token {
  internalId: bigint
  reviewId: bigint
  /** Hash of the inputs of the token. */
  key: string
  /** Null when the review has no link. */
  token: string | null
}

export async function writeTokens(tx: Transaction, tokens: Token[]): Promise<void> {
  if (tokens.length === 0) return
  await tx`
    UPDATE market.reviews AS m SET ref_token = made.token, ref_key = made.key, ref_review_id = made.review_id
    FROM unnest(
      ${tokens.map(({ internalId }) => internalId)}::bigint[],
      ${tokens.map(({ reviewId }) => reviewId)}::bigint[],
      ${tokens.map(({ key }) => key)}::text[],
      ${tokens.map(({ token }) => token)}::text[]
    ) AS made (internal_id, review_id, key, token)
    WHERE m.internal_id = made.internal_id`
}

/**
 * Reads and locks the endpoint of a product until the transaction ends. `one review` takes a shared lock, so that several transactions
 * can create tokens of single reviews; `all` takes an exclusive one.
 */
export async function lockEndpoint(
  tx: Transaction,
  { chainId, merchantId, productId }: ProductKey,
  lock: 'one review' | 'all',
): Promise<string | null> {
  const [row] = await tx<{ endpoint_url: string | null }[]>`
    SELECT endpoint_url FROM market.products
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}
    ${lock === 'all' ? tx`FOR NO KEY UPDATE` : tx`FOR SHARE`}`
  return row?.endpoint_url ?? null
}

/** Leaves the outdated tokens of products to the schedule of a process that can sign. */
export async function markUnlinked(
  tx: Transaction,
  chainId: number,
  products: readonly { merchant_id: bigint; product_id: Buffer }[],
): Promise<void> {
  await tx`
    UPDATE market.products AS p SET linked_endpoint = NULL
    FROM unnest(
      ${products.map(({ merchant_id }) => merchant_id)}::bigint[],
      ${products.map(({ product_id }) => product_id)}::bytea[]
    ) AS those (merchant_id, product_id)
    WHERE p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (those.merchant_id, those.product_id)`
}

/** Records that all tokens of a product have this endpoint and signer. */
export async function markLinked(
  tx: Transaction,
  { chainId, merchantId, productId }: ProductKey,
  endpoint: string | null,
  signer: string,
): Promise<void> {
  await tx`
    UPDATE market.products SET linked_endpoint = ${endpoint}, linked_signer = ${signer}
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId}`
}

/** Products that have outdated tokens. */
export function findUnlinkedProducts(
  sql: Queryable,
  chainId: number,
  signer: string,
  limit: number,
): Promise<{ merchant_id: bigint; product_id: Buffer }[]> {
  // Each part is an index scan; the ORDER BY makes sure of it.
  return sql<{ merchant_id: bigint; product_id: Buffer }[]>`
    (SELECT merchant_id, product_id FROM market.products
      WHERE chain_id = ${chainId} AND endpoint_url IS DISTINCT FROM linked_endpoint LIMIT ${limit})
    UNION (SELECT merchant_id, product_id FROM market.products
      WHERE chain_id = ${chainId} AND linked_endpoint IS NOT NULL AND linked_signer < ${signer}
      ORDER BY linked_signer LIMIT ${limit})
    UNION (SELECT merchant_id, product_id FROM market.products
      WHERE chain_id = ${chainId} AND linked_endpoint IS NOT NULL AND linked_signer > ${signer}
      ORDER BY linked_signer LIMIT ${limit})
    LIMIT ${limit}`
}

/** How many products have links that the key `kid` signed, and how many have links of others or none yet. */
export async function countLinks(
  sql: Queryable,
  chainId: number,
  kid: string,
): Promise<{ signed: number; others: number }> {
  const [row] = await sql<{ signed: number; others: number }[]>`
    SELECT count(*) FILTER (WHERE is_signed)::int AS signed, count(*) FILTER (WHERE NOT is_signed)::int AS others
    FROM (
      SELECT linked_endpoint IS NOT DISTINCT FROM endpoint_url AND starts_with(linked_signer, ${`${kid}/`}) AS is_signed
      FROM market.products WHERE chain_id = ${chainId} AND endpoint_url IS NOT NULL
    ) AS products`
  return row ?? { signed: 0, others: 0 }
}
