// What the routes read. Amounts are those of a day: see `inflationOf` of packages/ranking.
import type { Queryable } from '@referrer/database'
import { inflationOf } from '@referrer/ranking'
import { MOST_SPENT } from './spending.ts'

/** What an entry is worth on a day, as the pass takes it. */
const worth = (sql: Queryable, day: number) =>
  sql`least(div(e.spent, ${inflationOf(day)}::numeric), ${MOST_SPENT}::numeric)::bigint`
/** Whether it is worth anything. */
const counts = (sql: Queryable, day: number) => sql`e.spent >= ${inflationOf(day)}::numeric`

export type SpentRow = {
  merchant_id: bigint
  spent: bigint
  total: bigint
  standing: number | null
  is_verified: boolean
}

/** Where an owner spent most, with the total of all its shops. */
export function spentBy(
  sql: Queryable,
  chainId: number,
  { owner, day, most }: { owner: Buffer; day: number; most: number },
): Promise<SpentRow[]> {
  return sql<SpentRow[]>`
    SELECT e.merchant_id, e.spent, e.total, s.standing, coalesce(s.is_verified, false) AS is_verified FROM (
      SELECT e.merchant_id, ${worth(sql, day)} AS spent, (sum(${worth(sql, day)}) OVER ())::numeric AS total
      FROM market.spent_at_shops AS e
      WHERE e.chain_id = ${chainId} AND e.owner = ${owner} AND ${counts(sql, day)}
      ORDER BY e.spent DESC, e.merchant_id LIMIT ${most}) AS e
    LEFT JOIN market.shop_standings AS s ON s.chain_id = ${chainId} AND s.merchant_id = e.merchant_id
    ORDER BY e.spent DESC, e.merchant_id`
}

export async function standingOfOwner(
  sql: Queryable,
  chainId: number,
  owner: Buffer,
): Promise<number | null> {
  const [row] = await sql<{ standing: number }[]>`
    SELECT standing FROM market.owner_standings WHERE chain_id = ${chainId} AND owner = ${owner}`
  return row?.standing ?? null
}

export type CustomerRow = { owner: Buffer; spent: bigint; standing: number | null }

/** Who spent most at a shop. */
export function customersOf(
  sql: Queryable,
  chainId: number,
  { merchantId, day, most }: { merchantId: bigint; day: number; most: number },
): Promise<CustomerRow[]> {
  return sql<CustomerRow[]>`
    SELECT e.owner, ${worth(sql, day)} AS spent, s.standing FROM (
      SELECT owner, spent FROM market.spent_at_shops AS e
      WHERE e.chain_id = ${chainId} AND e.merchant_id = ${merchantId} AND ${counts(sql, day)}
      ORDER BY e.spent DESC LIMIT ${most}) AS e
    LEFT JOIN market.owner_standings AS s ON s.chain_id = ${chainId} AND s.owner = e.owner
    ORDER BY e.spent DESC, e.owner`
}

export type ShopRow = {
  standing: number | null
  is_verified: boolean | null
  revenue: bigint | null
  customers: number | null
  /** Of the decision that holds. */
  note: string | null
  decided_at: Date | null
}

/** Undefined: there is no such shop. */
export async function shopOf(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<ShopRow | undefined> {
  const [row] = await sql<ShopRow[]>`
    SELECT s.standing, s.is_verified, s.revenue, s.customers, v.note, v.decided_at FROM chain.merchants AS m
    LEFT JOIN market.shop_standings AS s USING (chain_id, merchant_id)
    LEFT JOIN chain.identities AS i ON i.chain_id = m.chain_id AND i.agent_id = m.merchant_id
    LEFT JOIN LATERAL (
      SELECT owner, is_verified, note, decided_at FROM market.shop_verifications AS d
      WHERE d.chain_id = m.chain_id AND d.merchant_id = m.merchant_id
      ORDER BY d.verification_id DESC LIMIT 1) AS v ON v.is_verified AND v.owner = i.owner
    WHERE m.chain_id = ${chainId} AND m.merchant_id = ${merchantId}`
  return row
}

export type OwnerRow = { owner: Buffer; standing: number }

export const ownersAfter = (sql: Queryable, chainId: number, after: Buffer, most: number) => sql<OwnerRow[]>`
  SELECT owner, standing FROM market.owner_standings WHERE chain_id = ${chainId} AND owner > ${after}
  ORDER BY owner LIMIT ${most}`

export type ListedShop = {
  merchant_id: bigint
  standing: number
  is_verified: boolean
  revenue: bigint
  customers: number
}

export const shopsAfter = (sql: Queryable, chainId: number, after: bigint, most: number) => sql<ListedShop[]>`
  SELECT merchant_id, standing, is_verified, revenue, customers FROM market.shop_standings
  WHERE chain_id = ${chainId} AND merchant_id > ${after} ORDER BY merchant_id LIMIT ${most}`

export type EntryRow = { owner: Buffer; merchant_id: bigint; spent: bigint }

/** All entries, those that are worth nothing any more too: so each page reads as many rows as it has. */
export const entriesAfter = (
  sql: Queryable,
  chainId: number,
  { after, day, most }: { after: Pick<EntryRow, 'owner' | 'merchant_id'>; day: number; most: number },
) => sql<EntryRow[]>`
  SELECT e.owner, e.merchant_id, ${worth(sql, day)} AS spent FROM market.spent_at_shops AS e
  WHERE e.chain_id = ${chainId} AND (e.owner, e.merchant_id) > (${after.owner}::bytea, ${after.merchant_id})
  ORDER BY e.owner, e.merchant_id LIMIT ${most}`
