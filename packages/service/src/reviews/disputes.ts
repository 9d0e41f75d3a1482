// Reviews that buyers contradicted and whose author disputes that. An admin ends it.
import type { Queryable } from '@referrer/database'
import type { Page } from '../db/page.ts'

export type DisputeRow = {
  internal_id: bigint
  /** Null, as is the time: not on the chain. */
  review_id: bigint | null
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  satisfaction_score: number | null
  /** JSON. */
  content: string | null
  published_at: Date | null
}

/** Oldest first. */
export function listDisputes(
  sql: Queryable,
  chainId: number,
  { limit, offset }: Page,
): Promise<DisputeRow[]> {
  return sql<DisputeRow[]>`
    SELECT m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.satisfaction_score, m.content,
      c.published_at
    FROM market.reviews AS m LEFT JOIN chain.reviews AS c USING (internal_id)
    WHERE m.chain_id = ${chainId} AND m.comparison_outcome = 'disputed'
    ORDER BY m.internal_id LIMIT ${limit} OFFSET ${offset}`
}

/** Of decisions at the same moment the first one counts. */
export async function resolveDispute(
  sql: Queryable,
  chainId: number,
  internalId: bigint,
  { note, by, at }: { note: string; by: Buffer; at: Date },
): Promise<'resolved' | 'not disputed' | 'unknown'> {
  const { count } = await sql`
    WITH resolved AS (
      UPDATE market.reviews SET comparison_outcome = 'resolved'
      WHERE internal_id = ${internalId} AND chain_id = ${chainId} AND comparison_outcome = 'disputed'
      RETURNING internal_id
    )
    INSERT INTO market.dispute_decisions (internal_id, decided_at, decided_by, note)
    SELECT internal_id, ${at}::timestamptz, ${by}::bytea, ${note}::text FROM resolved`
  if (count === 1) return 'resolved'
  const [row] = await sql`
    SELECT FROM market.reviews WHERE internal_id = ${internalId} AND chain_id = ${chainId}`
  return row ? 'not disputed' : 'unknown'
}
