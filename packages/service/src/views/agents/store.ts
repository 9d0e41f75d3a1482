import type { Queryable } from '@referrer/database'
import type { ProductType } from '@referrer/ranking'
import type { Page } from '../../machinery/db/page.ts'
import { LONGEST_LIST } from '../page.ts'
import { type FiguresRow, figuresColumns, figuresJoin } from '../reviews.ts'

/** How many reviews agents have published, and how many purchases there were through them. */
export async function countsOfAgents(
  sql: Queryable,
  chainId: number,
  agentIds: readonly bigint[],
): Promise<Map<bigint, { reviews: bigint; sales: bigint }>> {
  const rows = await sql<{ agent_id: bigint; reviews: bigint; sales: bigint }[]>`
    SELECT k.agent_id,
      coalesce((SELECT r.count FROM market.agent_reviews AS r
        WHERE r.chain_id = ${chainId} AND r.agent_id = k.agent_id), 0) AS reviews,
      coalesce((SELECT s.conversions FROM market.agent_sales AS s
        WHERE s.chain_id = ${chainId} AND s.agent_id = k.agent_id), 0) AS sales
    FROM unnest(${[...agentIds]}::bigint[]) AS k (agent_id)`
  return new Map(rows.map(({ agent_id, ...counts }) => [agent_id, counts]))
}

/** The ids of the agents with the best ranks of a type, best first. Flagged agents and agents without a rank are left out. */
export async function bestAgents(
  sql: Queryable,
  chainId: number,
  type: ProductType,
  { limit, offset }: Page,
): Promise<bigint[]> {
  const rank = sql(type)
  // Only agents of the same rank are sorted: the index has the ranks in order.
  const rows = await sql<{ agent_id: bigint }[]>`
    SELECT r.agent_id FROM market.review_ranks AS r
    CROSS JOIN LATERAL (
      SELECT coalesce((
        SELECT s.conversions FROM market.agent_sales AS s
        WHERE s.chain_id = r.chain_id AND s.agent_id = r.agent_id), 0) AS sales) AS sold
    WHERE r.chain_id = ${chainId} AND r.${rank} IS NOT NULL AND (
      SELECT a.flagged FROM market.agents AS a
      WHERE a.chain_id = r.chain_id AND a.agent_id = r.agent_id) IS NOT TRUE
    ORDER BY r.${rank} DESC, sold.sales DESC, r.agent_id LIMIT ${limit} OFFSET ${offset}`
  return rows.map(({ agent_id }) => agent_id)
}

/** Whether the agent is on the chain. */
export async function isAgent(sql: Queryable, chainId: number, agentId: bigint): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM chain.identities WHERE chain_id = ${chainId} AND agent_id = ${agentId}`
  return count > 0
}

/** What a list shows of a review beside the review itself. */
export type ReviewOfAgentRow = FiguresRow & { product_name: string }

/** The published reviews of an agent, newest first. With or without their texts, at most `LONGEST_LIST` are looked at. */
export function publishedBy(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset }: Page,
): Promise<ReviewOfAgentRow[]> {
  return sql<ReviewOfAgentRow[]>`
    WITH page AS (
      SELECT c.* FROM (
        SELECT internal_id, review_id, merchant_id, product_id FROM chain.reviews
        WHERE chain_id = ${chainId} AND agent_id = ${agentId} ORDER BY internal_id DESC LIMIT ${LONGEST_LIST}
      ) AS c
      -- A scalar subquery, because the planner would turn a join into a scan of the whole table.
      WHERE (SELECT m.content IS NOT NULL FROM market.reviews AS m WHERE m.internal_id = c.internal_id)
      ORDER BY c.internal_id DESC LIMIT ${limit} OFFSET ${offset}
    )
    SELECT ${figuresColumns(sql, chainId)},
      coalesce((SELECT p.name FROM market.products AS p WHERE p.chain_id = ${chainId}
        AND p.merchant_id = page.merchant_id AND p.product_id = page.product_id), '') AS product_name
    FROM page ${figuresJoin(sql)} ORDER BY page.internal_id DESC`
}

export type EarningDayRow = {
  day: string
  immediate: bigint
  settled: bigint
  cashback: bigint
  sales: bigint
}

/** `YYYY-MM-DD`, both included; without `last` there is no end. */
export interface Days {
  first: string
  last?: string
}

/** The days on which an agent was paid or sold something. */
export function earningDays(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { first, last }: Days,
): Promise<EarningDayRow[]> {
  return sql<EarningDayRow[]>`
    SELECT day::text, immediate, settled, cashback, sales FROM market.earning_days
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND day >= ${first}::text::date
      ${last === undefined ? sql`` : sql`AND day <= ${last}::text::date`}
      AND (immediate, settled, cashback, sales) <> (0, 0, 0, 0)
    ORDER BY day`
}
