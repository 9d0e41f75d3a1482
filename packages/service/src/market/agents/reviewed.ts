// What an agent has published.
import type { Queryable } from '@referrer/database'

/** Of a row of the chain. As a value it is looked up row by row; as a join it would be done for the whole table at once. */
const hasText = (sql: Queryable) => sql`
  (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)`

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
