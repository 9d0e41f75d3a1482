import type { Queryable } from '@referrer/database'

/**
 * Of a decision `d` and its transaction `i`: the error for which that left this escrow as it was, while the others of its batch went on. Null: it
 * did not, as far as the records go.
 */
export const skippedFor = (sql: Queryable) => sql`(
  SELECT s.reason FROM chain.skipped_escrows AS s
  WHERE s.chain_id = d.chain_id AND s.payer = d.payer AND s.nonce = d.nonce AND s.contract = d.contract
    AND s.transaction_hash = i.mined_hash LIMIT 1)`
