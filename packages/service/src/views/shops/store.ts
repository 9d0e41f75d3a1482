import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import { type PurchaseRow, purchaseColumns } from '../../market/escrows/purchase.ts'

/** Whole days in UTC, both included: `YYYY-MM-DD`. */
export interface Days {
  first: string
  last: string
}

type Figures = { count: bigint; revenue: bigint; commission: bigint; fee: bigint }

export type DayRow = Figures & { day: string }

/** What a merchant sold on each day that had a sale, in the order of the days. */
export function salesByDay(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  { first, last }: Days,
): Promise<DayRow[]> {
  return sql<DayRow[]>`
    SELECT day::text, sum(count)::bigint AS count, sum(revenue) AS revenue, sum(commission) AS commission,
      sum(fee) AS fee
    FROM market.daily_sales
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId} AND day BETWEEN ${first}::text::date AND ${last}::text::date
    GROUP BY daily_sales.day HAVING sum(count) <> 0 ORDER BY daily_sales.day`
}

/** The sales of a merchant on these days, newest first. */
export function listSales(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  { first, last, limit, offset }: Days & Page,
): Promise<PurchaseRow[]> {
  return sql<PurchaseRow[]>`
    SELECT ${purchaseColumns(sql)} FROM (
      SELECT * FROM chain.escrows
      WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}
        AND deposited_at >= ${first}::text::date::timestamp AT TIME ZONE 'UTC'
        AND deposited_at < (${last}::text::date + 1)::timestamp AT TIME ZONE 'UTC'
      ORDER BY deposited_at DESC, escrow_id DESC LIMIT ${limit} OFFSET ${offset}
    ) AS e ORDER BY e.deposited_at DESC, e.escrow_id DESC`
}

export type ProductFigures = Figures & { product_id: Buffer; name: string | null }

/** What a merchant sold of each product, the greatest revenue first. */
export function salesByProduct(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  limit: number,
): Promise<ProductFigures[]> {
  return sql<ProductFigures[]>`
    SELECT s.*, p.name FROM (
      SELECT product_id, sum(count)::bigint AS count, sum(revenue) AS revenue, sum(commission) AS commission, sum(fee) AS fee
      FROM market.daily_sales WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}
      GROUP BY product_id HAVING sum(count) <> 0 ORDER BY sum(revenue) DESC, product_id LIMIT ${limit}
    ) AS s
    LEFT JOIN market.products AS p
      ON p.chain_id = ${chainId} AND p.merchant_id = ${merchantId} AND p.product_id = s.product_id
    ORDER BY s.revenue DESC, s.product_id`
}

/** Accounts that have a role by the merchant's present owner, by ascending address. */
export async function accountsWithRole(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  role: Buffer,
  limit: number,
): Promise<Buffer[]> {
  const rows = await sql<{ account: Buffer }[]>`
    SELECT r.account FROM chain.identities AS i
    JOIN chain.merchant_roles AS r
      ON r.chain_id = i.chain_id AND r.merchant_id = i.agent_id AND r.granted_by = i.owner
    WHERE i.chain_id = ${chainId} AND i.agent_id = ${merchantId} AND r.role = ${role} AND r.granted
    ORDER BY r.account LIMIT ${limit}`
  return rows.map(({ account }) => account)
}
