import type { Queryable } from '@referrer/database'

type Fragment = ReturnType<Queryable>

/** SQL for whether the merchant in a column is open for sales; null when it is not on the chain. */
export const isOpenMerchant = (sql: Queryable, chainId: number, merchantId: Fragment) => sql`(
  SELECT s.active AND NOT s.suspended AND s.opened_by = i.owner
  FROM chain.merchants AS s JOIN chain.identities AS i ON i.chain_id = s.chain_id AND i.agent_id = s.merchant_id
  WHERE s.chain_id = ${chainId} AND s.merchant_id = ${merchantId})`
