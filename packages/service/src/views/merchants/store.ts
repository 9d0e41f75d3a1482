import type { Queryable } from '@referrer/database'

/** The number of published reviews of a merchant's products, and their mean rank; null: it has no products. */
export async function reputationOf(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<{ reviews: bigint; rank: number | null }> {
  const [row] = await sql<[{ reviews: bigint; rank: number | null }]>`
    SELECT
      (SELECT coalesce(sum(count), 0)::bigint FROM market.product_reviews
        WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}) AS reviews,
      (SELECT avg(rank) FROM market.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}) AS rank`
  return row
}
