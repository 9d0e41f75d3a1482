import type { Queryable } from '@referrer/database'

export type EndpointRow = { product_id: Buffer; endpoint_url: string; active: boolean }

/** Only this many products of a merchant are compared with what is found. */
const MOST = 5_000

/** The endpoints of a merchant's products, open ones first, then by id. */
export async function endpointsOf(
  sql: Queryable,
  chainId: number,
  merchantId: bigint,
): Promise<EndpointRow[]> {
  const rows = await sql<EndpointRow[]>`
    SELECT m.product_id, m.endpoint_url, c.active
    FROM chain.products AS c JOIN market.products AS m USING (chain_id, merchant_id, product_id)
    WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND m.endpoint_url <> ''
    ORDER BY m.product_id LIMIT ${MOST}`
  return rows.toSorted((a, b) => Number(b.active) - Number(a.active))
}
