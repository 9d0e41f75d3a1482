import type { Queryable } from '@referrer/database'

export type EndpointRow = { product_id: Buffer; endpoint_url: string }

/** Of more products than anybody sells at addresses of their own, the others are not recognised. */
const MOST = 5_000

/** Where a merchant sells its products, open ones first. */
export const endpointsOf = (sql: Queryable, chainId: number, merchantId: bigint) => sql<EndpointRow[]>`
  SELECT m.product_id, m.endpoint_url
  FROM chain.products AS c JOIN market.products AS m USING (chain_id, merchant_id, product_id)
  WHERE c.chain_id = ${chainId} AND c.merchant_id = ${merchantId} AND m.endpoint_url <> ''
  ORDER BY c.active DESC, m.product_id LIMIT ${MOST}`
