import type { Queryable } from '@referrer/database'
import type { Trust } from '@referrer/ranking'

/** The standings of a buyer's owner and of the shop where it bought, in millionths. */
export type Standings = {
  /** False: no shop is verified, and every purchase counts in full. */
  isOn: boolean
  /** Null: the owner had bought nothing before. */
  owner: number | null
  shop: number
}

export async function findStandings(
  sql: Queryable,
  chainId: number,
  { owner, merchantId }: { owner: Buffer; merchantId: bigint },
): Promise<Standings> {
  const [row] = await sql<[Standings]>`
    SELECT coalesce(pass.verified > 0, false) AS "isOn", o.standing AS owner, coalesce(s.standing, 0) AS shop
    FROM (VALUES (${chainId}::bigint)) AS k (chain_id)
    LEFT JOIN LATERAL (
      SELECT p.verified FROM market.standing_passes AS p WHERE p.chain_id = k.chain_id ORDER BY p.pass DESC LIMIT 1) AS pass ON true
    LEFT JOIN market.owner_standings AS o ON o.chain_id = k.chain_id AND o.owner = ${owner}
    LEFT JOIN market.shop_standings AS s ON s.chain_id = k.chain_id AND s.merchant_id = ${merchantId}`
  return row
}

export const trustOf = ({ isOn, owner, shop }: Standings): Trust | null => (isOn ? { owner, shop } : null)
