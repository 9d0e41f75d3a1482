// Shops that the operator has verified: the ground on which standings rest.
import type { Queryable, Sql, Transaction } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'

export interface Decision {
  isVerified: boolean
  /** For everybody to read. */
  note: string
  by: Buffer
  at: Date
}

/** What holds for a shop. Null in the decision: nobody has decided yet. */
export type ShopState = {
  is_verified: boolean
  note: string | null
  decided_at: Date | null
}

export type Outcome = 'unknown' | { hasChanged: boolean; state: ShopState }

/**
 * The newest decision on a shop. It is in force while the shop belongs to the owner it had then: whoever buys a shop
 * does not buy its verification.
 */
const newest = (sql: Queryable, chainId: number, merchantId: ReturnType<Queryable>) => sql`(
  SELECT v.* FROM market.shop_verifications AS v WHERE v.chain_id = ${chainId} AND v.merchant_id = ${merchantId}
  ORDER BY v.verification_id DESC LIMIT 1)`

/** Verifies a shop or takes it back. A decision for the state that the shop has already is not stored. */
export function decideShop(
  sql: Sql,
  chainId: number,
  merchantId: bigint,
  { isVerified, note, by, at }: Decision,
): Promise<Outcome> {
  return sql.begin(async (tx): Promise<Outcome> => {
    // One after the other, so that the same decision of two admins is stored once.
    await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`verification/${chainId}/${merchantId}`}, 0))`
    const shop = await findShop(tx, chainId, merchantId)
    if (!shop) return 'unknown'
    const { owner, ...state } = shop
    if (state.is_verified === isVerified) return { hasChanged: false, state }
    await tx`
      INSERT INTO market.shop_verifications (chain_id, merchant_id, owner, is_verified, note, decided_by, decided_at)
      VALUES (${chainId}, ${merchantId}, ${owner}, ${isVerified}, ${note}, ${by}, ${at})`
    return { hasChanged: true, state: { is_verified: isVerified, note, decided_at: at } }
  })
}

async function findShop(
  tx: Transaction,
  chainId: number,
  merchantId: bigint,
): Promise<(ShopState & { owner: Buffer }) | undefined> {
  const [row] = await tx<(ShopState & { owner: Buffer })[]>`
    SELECT i.owner, coalesce(last.is_verified AND last.owner = i.owner, false) AS is_verified, last.note, last.decided_at
    FROM chain.merchants AS c
    JOIN chain.identities AS i ON i.chain_id = c.chain_id AND i.agent_id = c.merchant_id
    LEFT JOIN LATERAL ${newest(tx, chainId, tx`c.merchant_id`)} AS last ON true
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId}`
  return row
}

export type VerificationRow = {
  verification_id: bigint
  merchant_id: bigint
  owner: Buffer
  is_verified: boolean
  is_in_force: boolean
  note: string
  decided_at: Date
}

/** Decisions after one, oldest first. */
export function listVerifications(
  sql: Queryable,
  chainId: number,
  { after, limit }: { after: bigint; limit: number },
): Promise<VerificationRow[]> {
  return sql<VerificationRow[]>`
    SELECT v.verification_id, v.merchant_id, v.owner, v.is_verified, v.note, v.decided_at,
      v.verification_id = (SELECT last.verification_id FROM ${newest(sql, chainId, sql`v.merchant_id`)} AS last)
        AND coalesce((
          SELECT i.owner = v.owner FROM chain.identities AS i WHERE i.chain_id = v.chain_id AND i.agent_id = v.merchant_id
        ), false) AS is_in_force
    FROM market.shop_verifications AS v
    WHERE v.chain_id = ${chainId} AND v.verification_id > ${after} ORDER BY v.verification_id LIMIT ${limit}`
}

export type ShopRow = ShopState & {
  merchant_id: bigint
  owner: Buffer
  purchases: bigint
  revenue: bigint
  decided_by: Buffer | null
  /** In millionths; null: none is computed. */
  standing: number | null
}

export const FILTERS = ['all', 'verified', 'unverified'] as const
export type Filter = (typeof FILTERS)[number]

/** Open shops, by ascending id. */
export function listShops(
  sql: Queryable,
  chainId: number,
  { filter, merchantId, limit, offset }: Page & { filter: Filter; merchantId?: bigint | undefined },
): Promise<ShopRow[]> {
  const isVerified = sql`coalesce(last.is_verified AND last.owner = i.owner, false)`
  const isWanted = { all: sql`true`, verified: isVerified, unverified: sql`NOT ${isVerified}` }[filter]
  return sql<ShopRow[]>`
    SELECT c.merchant_id, i.owner, coalesce(s.conversions, 0)::bigint AS purchases, coalesce(s.gross, 0)::bigint AS revenue,
      ${isVerified} AS is_verified, last.note, last.decided_at, last.decided_by, st.standing
    FROM chain.merchants AS c
    JOIN chain.identities AS i ON i.chain_id = c.chain_id AND i.agent_id = c.merchant_id
    LEFT JOIN LATERAL ${newest(sql, chainId, sql`c.merchant_id`)} AS last ON true
    LEFT JOIN market.sales AS s ON s.chain_id = c.chain_id AND s.merchant_id = c.merchant_id
    LEFT JOIN market.shop_standings AS st ON st.chain_id = c.chain_id AND st.merchant_id = c.merchant_id
    WHERE c.chain_id = ${chainId} AND c.active AND NOT c.suspended AND c.opened_by = i.owner AND ${isWanted}
      ${merchantId === undefined ? sql`` : sql`AND c.merchant_id = ${merchantId}`}
    ORDER BY c.merchant_id LIMIT ${limit} OFFSET ${offset}`
}
