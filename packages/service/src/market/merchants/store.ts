import type { Queryable } from '@referrer/database'
import type { ProductKey } from '../../kit/keys.ts'
import { countOf } from '../../machinery/db/counts.ts'
import type { Page } from '../../machinery/db/page.ts'
import { type FileColumn, fileColumn } from '../registrations/store.ts'

/** A merchant that is registered and on the chain. */
export type MerchantRow = {
  merchant_id: bigint
  owner: Buffer
  payout: Buffer | null
  active: boolean
  suspended: boolean
  /** The account that opened the merchant; it is open only while this account is its owner. */
  opened_by: Buffer | null
  rank: number | null
  registered_at: Date
  metadata_uri: string | null
  description: string | null
  landing_page_url: string | null
}

export type ProductRow = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  description: string
  category: string
  endpoint_url: string | null
  rank: number
  commission_bps: number
  min_price: bigint
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  card_uri: string
  active: boolean
}

/** The terms of a product from the chain that answers show. */
export type Terms = Pick<ProductRow, 'commission_bps' | 'product_type' | 'card_uri'>

const merchantColumns = (sql: Queryable) => sql`
  m.merchant_id, i.owner, c.payout, c.active, c.suspended, c.opened_by, m.rank, m.registered_at, m.metadata_uri, m.description,
  m.landing_page_url`

const productColumns = (sql: Queryable) => sql`
  m.merchant_id, m.product_id, m.name, m.description, m.category, m.endpoint_url, m.rank, c.commission_bps, c.min_price,
  c.product_type, c.card_uri, c.active`

/** Registered merchants, joined with their state on the chain. */
const merchants = (sql: Queryable) => sql`
  market.merchants AS m
  JOIN chain.merchants AS c USING (chain_id, merchant_id)
  JOIN chain.identities AS i ON i.chain_id = m.chain_id AND i.agent_id = m.merchant_id`

/** One page of the merchants, by ascending id. */
export function listMerchants(
  sql: Queryable,
  chainId: number,
  { limit, offset }: Page,
): Promise<MerchantRow[]> {
  // An index-only scan finds the page, so that skipped rows are not read; its rows are then fetched one by one.
  return sql<MerchantRow[]>`
    WITH page AS (
      SELECT merchant_id FROM market.merchants WHERE chain_id = ${chainId}
      ORDER BY merchant_id LIMIT ${limit} OFFSET ${offset}
    )
    SELECT merchant.* FROM page, LATERAL (
      SELECT ${merchantColumns(sql)} FROM ${merchants(sql)}
      WHERE m.chain_id = ${chainId} AND m.merchant_id = page.merchant_id LIMIT 1) AS merchant
    ORDER BY page.merchant_id`
}

/** One page of the merchants of an owner, by ascending id. */
export function merchantsOfOwner(
  sql: Queryable,
  chainId: number,
  owner: Buffer,
  { limit, offset }: Page,
): Promise<MerchantRow[]> {
  return sql<MerchantRow[]>`
    SELECT ${merchantColumns(sql)} FROM ${merchants(sql)}
    WHERE i.chain_id = ${chainId} AND i.owner = ${owner} ORDER BY i.agent_id LIMIT ${limit} OFFSET ${offset}`
}

export async function countMerchantsOfOwner(sql: Queryable, chainId: number, owner: Buffer): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count(*) FROM chain.identities AS i
    WHERE i.chain_id = ${chainId} AND i.owner = ${owner}
      -- Scalar subqueries, because the planner may turn joins into scans of whole tables.
      AND (SELECT true FROM market.merchants AS m WHERE m.chain_id = i.chain_id AND m.merchant_id = i.agent_id)
      AND (SELECT true FROM chain.merchants AS c WHERE c.chain_id = i.chain_id AND c.merchant_id = i.agent_id)`
  return row?.count ?? 0n
}

export const countMerchants = (sql: Queryable, chainId: number) => countOf(sql, chainId, 'merchants')

export async function findMerchant(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<MerchantRow | undefined> {
  const [row] = await sql<MerchantRow[]>`
    SELECT ${merchantColumns(sql)} FROM ${merchants(sql)}
    WHERE m.chain_id = ${chainId} AND m.merchant_id = ${merchantId}`
  return row
}

/** With what it is shown with by itself. */
export async function findMerchantAlone(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<(MerchantRow & FileColumn) | undefined> {
  const [row] = await sql<(MerchantRow & FileColumn)[]>`
    SELECT ${merchantColumns(sql)}, ${fileColumn(sql)} FROM ${merchants(sql)}
    WHERE m.chain_id = ${chainId} AND m.merchant_id = ${merchantId}`
  return row
}

export async function findProduct(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  productId: Buffer,
): Promise<ProductRow | undefined> {
  const [row] = await sql<ProductRow[]>`
    SELECT ${productColumns(sql)}
    FROM chain.products AS c JOIN market.products AS m USING (chain_id, merchant_id, product_id)
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND c.product_id = ${productId}`
  return row
}

/** The product ids of several merchants, active or not, ascending; at most `most` of each merchant (null means all). */
export async function productIdsOf(
  sql: Queryable,
  chainId: number,
  merchantIds: readonly bigint[],
  most: number | null,
): Promise<Map<bigint, Buffer[]>> {
  const rows = await sql<{ merchant_id: bigint; product_ids: Buffer[] }[]>`
    SELECT merchant_id, ARRAY(
      SELECT p.product_id FROM chain.products AS p
      WHERE p.chain_id = ${chainId} AND p.merchant_id = m.merchant_id ORDER BY p.product_id LIMIT ${most}) AS product_ids
    FROM unnest(${merchantIds}::bigint[]) AS m (merchant_id)`
  return new Map(rows.map(({ merchant_id, product_ids }) => [merchant_id, product_ids]))
}

export type SalesRow = {
  conversions: bigint
  gross: bigint
  held: bigint
  settled: bigint
  products_active: bigint
  products_total: bigint
}

export async function salesOf(sql: Queryable, chainId: number, merchantId: bigint): Promise<SalesRow> {
  const [row] = await sql<[SalesRow]>`
    SELECT coalesce(s.conversions, 0)::bigint AS conversions, coalesce(s.gross, 0) AS gross, coalesce(s.held, 0)::bigint AS held,
      coalesce(s.settled, 0)::bigint AS settled, p.products_active, p.products_total
    FROM (
      SELECT count(*) FILTER (WHERE active) AS products_active, count(*) AS products_total
      FROM chain.products WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}) AS p
    LEFT JOIN market.sales AS s ON s.chain_id = ${chainId} AND s.merchant_id = ${merchantId}`
  return row
}

/** Whether a merchant is registered; it may not be indexed yet. */
export async function isRecorded(sql: Queryable, chainId: number, merchantId: bigint): Promise<boolean> {
  const rows = await sql`
    SELECT FROM market.merchants WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}`
  return rows.length > 0
}

/** Returns false when the merchant was registered before. */
export async function recordMerchant(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  metadataUri: string | null,
): Promise<boolean> {
  const { count } = await sql`
    INSERT INTO market.merchants (chain_id, merchant_id, metadata_uri)
    VALUES (${chainId}, ${merchantId}, ${metadataUri}) ON CONFLICT DO NOTHING`
  return count > 0
}

/** Returns false when the merchant is not registered. */
export async function writeProfile(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
  { description, landingPageUrl }: { description: string | null; landingPageUrl: string | null },
): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.merchants SET description = ${description}, landing_page_url = ${landingPageUrl}
    WHERE chain_id = ${chainId} AND merchant_id = ${merchantId}`
  return count > 0
}

/** The merchant's description of a product. */
export interface Description {
  endpoint_url: string
  name: string
  description: string
  category: string
}

/** Stores a description, also when the product is not indexed yet. A described product is not deleted after a reorganisation. */
export async function writeDescription(
  sql: Queryable,
  { chainId, merchantId, productId }: ProductKey,
  { endpoint_url, name, description, category }: Description,
): Promise<{ rank: number }> {
  const [row] = await sql<[{ rank: number }]>`
    INSERT INTO market.products (chain_id, merchant_id, product_id, endpoint_url, name, description, category, described_at)
    VALUES (${chainId}, ${merchantId}, ${productId}, ${endpoint_url}, ${name}, ${description}, ${category}, now())
    ON CONFLICT (chain_id, merchant_id, product_id) DO UPDATE SET
      endpoint_url = excluded.endpoint_url, name = excluded.name, description = excluded.description,
      category = excluded.category, described_at = excluded.described_at
    RETURNING rank`
  return row
}
