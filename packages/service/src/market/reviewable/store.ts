import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import { buyerReview } from '../escrows/buyer-review.ts'
import { isOpenMerchant } from '../merchants/open.ts'

/** A product that an agent could review. */
export type ReviewableRow = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  description: string
  category: string
  product_type: number
  commission_bps: number
}
export type BoughtRow = ReviewableRow & { escrow_id: bigint }

const columns = (sql: Queryable) => sql`
  m.merchant_id, m.product_id, m.name, m.description, m.category, c.product_type, c.commission_bps`

/** Products on sale that an agent has not bought yet, best first. */
export function productsNotBought(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { category, limit, offset }: Page & { category?: string | undefined },
): Promise<ReviewableRow[]> {
  // The conditions are subqueries, evaluated product by product in the order of the index. With joins the planner would evaluate them for
  // all products, because it cannot estimate how many merchants are open.
  return sql<ReviewableRow[]>`
    SELECT ${columns(sql)}
    FROM market.products AS m, LATERAL (
      SELECT * FROM chain.products AS p
      WHERE p.chain_id = ${chainId} AND p.merchant_id = m.merchant_id AND p.product_id = m.product_id LIMIT 1) AS c
    WHERE m.chain_id = ${chainId} ${category === undefined ? sql`` : sql`AND m.category = ${category}`}
      AND c.active
      AND ${isOpenMerchant(sql, chainId, sql`m.merchant_id`)}
      AND (
        SELECT true FROM chain.escrows AS e
        WHERE e.chain_id = ${chainId} AND e.buyer_agent_id = ${agentId}
          AND e.merchant_id = m.merchant_id AND e.product_id = m.product_id LIMIT 1) IS NULL
    ORDER BY m.rank DESC, m.merchant_id, m.product_id LIMIT ${limit} OFFSET ${offset}`
}

/** Products whose newest purchase by an agent has no published review by it yet, best first. */
export function productsToReview(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { category, limit, offset }: Page & { category?: string | undefined },
): Promise<BoughtRow[]> {
  return sql<BoughtRow[]>`
    WITH RECURSIVE ${purchasesToReview(sql, chainId, agentId)}
    SELECT ${columns(sql)}, p.escrow_id
    FROM to_review AS p
    JOIN market.products AS m ON m.chain_id = ${chainId} AND m.merchant_id = p.merchant_id AND m.product_id = p.product_id
    JOIN chain.products AS c ON c.chain_id = ${chainId} AND c.merchant_id = p.merchant_id AND c.product_id = p.product_id
    ${category === undefined ? sql`` : sql`WHERE m.category = ${category}`}
    ORDER BY m.rank DESC, m.merchant_id, m.product_id LIMIT ${limit} OFFSET ${offset}`
}

export async function countProductsToReview(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    WITH RECURSIVE ${purchasesToReview(sql, chainId, agentId)} SELECT count(*) FROM to_review`
  return row?.count ?? 0n
}

/** The newest purchase of each product, by a loose index scan: one index lookup per product, however often it was bought. */
function purchasesToReview(sql: Queryable, chainId: number, agentId: bigint) {
  const newest = sql`
    SELECT merchant_id, product_id, escrow_id, deposited_at, block_number, log_index, buyer_agent_id FROM chain.escrows AS e
    WHERE e.chain_id = ${chainId} AND e.buyer_agent_id = ${agentId}`
  const order = sql`ORDER BY e.merchant_id, e.product_id, e.deposited_at DESC, e.escrow_id DESC LIMIT 1`
  return sql`
    bought AS (
      (${newest} ${order})
      UNION ALL
      SELECT next.* FROM bought, LATERAL (
        ${newest} AND (e.merchant_id, e.product_id) > (bought.merchant_id, bought.product_id) ${order}) AS next
    ),
    to_review AS (
      SELECT * FROM bought AS e
      WHERE NOT EXISTS (SELECT FROM ${buyerReview(sql, chainId)} AND m.content IS NOT NULL)
    )`
}
