import type { Queryable } from '@referrer/database'
import { keyOf } from '@referrer/search'
import { toldBy } from '../../derived/offers/store.ts'
import type { Told } from '../../derived/offers/told.ts'
import { products } from '../answers/store.ts'

/** Of the best-ranked products, open or closed, this many are looked at. Nobody reads as far, and ranks put the useful ones first. */
const LOOKED_AT = 10_000
/** Of an account, this many merchants are looked at. */
const MERCHANTS = 100
/** An account can own any number of agents, of which few are merchants. */
const IDENTITIES = 1_000

const DESCRIPTION = 1_000

/** The keys of the open products that have an endpoint, best first; undefined: of all merchants. */
export async function openKeys(
  sql: Queryable,
  chainId: number,
  merchantIds: readonly bigint[] | undefined,
): Promise<string[]> {
  // LATERAL … LIMIT 1 forces an index lookup per product; with joins the planner may scan whole tables.
  const rows = await sql<{ merchant_id: bigint; product_id: Buffer }[]>`
    SELECT best.merchant_id, best.product_id FROM (
      SELECT merchant_id, product_id, rank, endpoint_url FROM market.products
      WHERE chain_id = ${chainId} ${merchantIds === undefined ? sql`` : sql`AND merchant_id = ANY(${[...merchantIds]}::bigint[])`}
      ORDER BY rank DESC, merchant_id, product_id LIMIT ${LOOKED_AT}
    ) AS best, LATERAL (
      SELECT FROM market.listings AS l
      WHERE l.chain_id = ${chainId} AND l.merchant_id = best.merchant_id AND l.product_id = best.product_id AND l.is_open LIMIT 1
    ) AS open
    WHERE best.endpoint_url <> '' ORDER BY best.rank DESC, best.merchant_id, best.product_id`
  return rows.map(({ merchant_id, product_id }) => keyOf(merchant_id, product_id))
}

/** The merchants that an account owns or gets the sales of. */
export async function merchantsPaying(sql: Queryable, chainId: number, account: Buffer): Promise<bigint[]> {
  const rows = await sql<{ merchant_id: bigint }[]>`
    SELECT merchant_id FROM (
      (SELECT owned.agent_id AS merchant_id FROM (
        SELECT agent_id FROM chain.identities WHERE chain_id = ${chainId} AND owner = ${account}
        ORDER BY agent_id LIMIT ${IDENTITIES}
      ) AS owned, LATERAL (
        SELECT FROM chain.merchants AS c WHERE c.chain_id = ${chainId} AND c.merchant_id = owned.agent_id LIMIT 1) AS merchant
        ORDER BY owned.agent_id LIMIT ${MERCHANTS})
      UNION
      (SELECT merchant_id FROM chain.merchants WHERE chain_id = ${chainId} AND payout = ${account}
        ORDER BY merchant_id LIMIT ${MERCHANTS})
    ) AS theirs ORDER BY merchant_id LIMIT ${MERCHANTS}`
  return rows.map(({ merchant_id }) => merchant_id)
}

export type ResourceRow = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  description: string
  category: string
  endpoint_url: string
  rank: number
  /** 0 is repeat, 1 is one-off. */
  product_type: number
  review_count: number
  /** Null, like `told`, when no offer was seen. */
  price: bigint | null
  told: Told | null
  updated_at: Date
  /** Null until it is computed. */
  merchant_rank: number | null
}

/** Those of the products that are open and have an endpoint, in the order of the keys. */
export async function findResources(
  sql: Queryable,
  chainId: number,
  keys: readonly string[],
): Promise<ResourceRow[]> {
  if (keys.length === 0) return []
  return sql<ResourceRow[]>`
    SELECT product.* FROM ${products(sql, keys)} WITH ORDINALITY AS k (merchant_id, product_id, at), LATERAL (
      SELECT p.merchant_id, p.product_id, p.name, left(p.description, ${DESCRIPTION}) AS description, p.category, p.endpoint_url, p.rank,
        c.product_type, l.review_count, o.price, ${toldBy(sql)}, coalesce(o.seen_at, p.described_at, now()) AS updated_at, m.rank AS merchant_rank
      FROM market.products AS p
      JOIN market.listings AS l USING (chain_id, merchant_id, product_id)
      JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
      LEFT JOIN market.offers AS o
        ON (o.chain_id, o.merchant_id, o.product_id, o.endpoint_url) = (p.chain_id, p.merchant_id, p.product_id, p.endpoint_url)
      LEFT JOIN market.merchants AS m ON (m.chain_id, m.merchant_id) = (p.chain_id, p.merchant_id)
      WHERE p.chain_id = ${chainId} AND p.merchant_id = k.merchant_id AND p.product_id = k.product_id AND l.is_open
        AND p.endpoint_url <> '' LIMIT 1
    ) AS product ORDER BY k.at`
}
