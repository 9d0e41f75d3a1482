import type { Queryable } from '@referrer/database'

/**
 * For a decision `d` and its transaction `i`: the error because of which the batch skipped this escrow. Null when no skip is indexed.
 */
export const skippedFor = (sql: Queryable) => sql`(
  SELECT s.reason FROM chain.skipped_escrows AS s
  WHERE s.chain_id = d.chain_id AND s.payer = d.payer AND s.nonce = d.nonce AND s.contract = d.contract
    AND s.transaction_hash = i.mined_hash LIMIT 1)`
