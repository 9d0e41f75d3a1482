import type { Queryable, Transaction } from '@referrer/database'

/** What the token of a review's ref link is made of, beside its product's endpoint. */
export type LinkedReview = {
  internal_id: bigint
  review_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  cashback_bps: number
  /** 0 repeat, 1 one-off */
  product_type: number
  /** Of its author. */
  flagged: boolean
  repeat: number | null
  one_off: number | null
}

export interface ProductKey {
  chainId: number
  merchantId: bigint
  productId: Buffer
}

const linked = (sql: Queryable) => sql`
  SELECT m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.cashback_bps, product.product_type,
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

/** The endpoint of a product, which stays what it is until the transaction ends. */
export async function holdEndpoint(
  tx: Transaction,
  { chainId, merchantId, productId }: ProductKey,
): Promise<string | null> {
  const [row] = await tx<{ endpoint_url: string | null }[]>`
    SELECT endpoint_url FROM market.products
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND product_id = ${productId} FOR SHARE`
  return row?.endpoint_url ?? null
}
