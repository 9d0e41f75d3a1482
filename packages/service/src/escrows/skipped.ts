import type { Queryable } from '@referrer/database'

/** Of a decision `d` and its transaction `i`: whether that is on the chain and left this escrow as it was, while others of its batch went on. */
export const wasSkipped = (sql: Queryable) => sql`EXISTS (
  SELECT FROM chain.skipped_escrows AS s
  WHERE s.chain_id = d.chain_id AND s.payer = d.payer AND s.nonce = d.nonce AND s.contract = d.contract
    AND s.transaction_hash = i.mined_hash)`
