import type { Queryable } from '@referrer/database'
import { countOf } from '../db/counts.ts'
import type { Page } from '../db/page.ts'

/** A merchant is in the records and on the chain. */
export type MerchantRow = {
  merchant_id: bigint
  owner: Buffer
  payout: Buffer | null
  active: boolean
  suspended: boolean
  /** It is open only while this account is its owner. */
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
  /** 0 repeat, 1 one-off */
  product_type: number
  card_uri: string
  active: boolean
}

const merchantColumns = (sql: Queryable) => sql`
  m.merchant_id, i.owner, c.payout, c.active, c.suspended, c.opened_by, m.rank, m.registered_at, m.metadata_uri, m.description,
  m.landing_page_url`

const productColumns = (sql: Queryable) => sql`
  m.merchant_id, m.product_id, m.name, m.description, m.category, m.endpoint_url, m.rank, c.commission_bps, c.min_price,
  c.product_type, c.card_uri, c.active`

/** The records of merchants with what the chain knows of them. */
const merchants = (sql: Queryable) => sql`
  market.merchants AS m
  JOIN chain.merchants AS c USING (chain_id, merchant_id)
  JOIN chain.identities AS i ON i.chain_id = m.chain_id AND i.agent_id = m.merchant_id`

/** By ascending id. */
export function listMerchants(
  sql: Queryable,
  chainId: number,
  { limit, offset }: Page,
): Promise<MerchantRow[]> {
  // The page is found in an index alone, so that what is skipped is not read; its rows are then fetched one by one.
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

/** Open ones and closed ones, by ascending id. */
export function productsOfMerchant(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<ProductRow[]> {
  return sql<ProductRow[]>`
    SELECT ${productColumns(sql)}
    FROM chain.products AS c JOIN market.products AS m USING (chain_id, merchant_id, product_id)
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} ORDER BY c.product_id`
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
