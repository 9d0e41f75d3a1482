// The published reviews of an agent.
import type { Queryable } from '@referrer/database'

/**
 * Whether the text of a review `c` is known. This is a scalar subquery because the planner would turn a join into a scan of the whole
 * table.
 */
const hasText = (sql: Queryable) => sql`
  (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)`

/** The number of reviews that an agent has published. */
export async function countReviewsOfAgent(sql: Queryable, chainId: number, agentId: bigint): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) FROM chain.reviews AS c
    WHERE c.chain_id = ${chainId} AND c.agent_id = ${agentId} AND ${hasText(sql)}`
  return row?.count ?? 0n
}

/** The products that an agent has reviewed. */
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
