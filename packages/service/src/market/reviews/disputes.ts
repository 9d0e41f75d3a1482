// Disputes: the author of a review disputes that buyers contradict it, and an admin decides.
import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'

export type DisputeRow = {
  internal_id: bigint
  /** Null, like `published_at`, when the review is not on the chain. */
  review_id: bigint | null
  agent_id: bigint
  merchant_id: bigint
  product_id: Buffer
  satisfaction_score: number | null
  /** The review's content as JSON. */
  content: string | null
  published_at: Date | null
  /** The author's reason for the dispute. */
  reason: string | null
  opened_at: Date | null
}

/** A review by its id on the chain, with its author, who may dispute it. */
export async function findDisputable(
  sql: Queryable,
  chainId: number,
  reviewId: bigint,
): Promise<{ internal_id: bigint; agent_id: bigint } | undefined> {
  const [row] = await sql<{ internal_id: bigint; agent_id: bigint }[]>`
    SELECT internal_id, agent_id FROM chain.reviews WHERE chain_id = ${chainId} AND review_id = ${reviewId}`
  return row
}

/** Opens a dispute; returns false when the review is not, or no longer, contradicted. */
export async function openDispute(
  sql: Queryable,
  internalId: bigint,
  { reason, by, at }: { reason: string; by: Buffer; at: Date },
): Promise<boolean> {
  const { count } = await sql`
    WITH opened AS (
      UPDATE market.reviews SET comparison_outcome = 'disputed'
      WHERE internal_id = ${internalId} AND comparison_outcome = 'contradicted'
      RETURNING internal_id
    )
    INSERT INTO market.disputes (internal_id, opened_at, opened_by, reason)
    SELECT internal_id, ${at}::timestamptz, ${by}::bytea, ${reason}::text FROM opened`
  return count === 1
}

/** The open disputes, oldest review first. */
export function listDisputes(
  sql: Queryable,
  chainId: number,
  { limit, offset }: Page,
): Promise<DisputeRow[]> {
  return sql<DisputeRow[]>`
    SELECT ${columns(sql)} FROM (
      SELECT * FROM market.reviews WHERE chain_id = ${chainId} AND comparison_outcome = 'disputed'
      ORDER BY internal_id LIMIT ${limit} OFFSET ${offset}
    ) AS m ${joins(sql)} ORDER BY m.internal_id`
}

const columns = (sql: Queryable) => sql`
  m.internal_id, c.review_id, m.agent_id, m.merchant_id, m.product_id, m.satisfaction_score, m.content, c.published_at, d.reason, d.opened_at`

const joins = (sql: Queryable) => sql`
  LEFT JOIN LATERAL (SELECT * FROM chain.reviews WHERE internal_id = m.internal_id LIMIT 1) AS c ON true
  LEFT JOIN LATERAL (SELECT * FROM market.disputes WHERE internal_id = m.internal_id LIMIT 1) AS d ON true`

/** The dispute of a review, open or decided, with what the oracle's findings on it need. */
export async function findDispute(
  sql: Queryable,
  chainId: number,
  internalId: bigint,
): Promise<(DisputeRow & { author_owner: Buffer | null; comparison_outcome: string }) | undefined> {
  const [row] = await sql<(DisputeRow & { author_owner: Buffer | null; comparison_outcome: string })[]>`
    SELECT ${columns(sql)}, m.author_owner, m.comparison_outcome FROM market.reviews AS m ${joins(sql)}
    WHERE m.internal_id = ${internalId} AND m.chain_id = ${chainId} AND m.comparison_outcome IN ('disputed', 'resolved')`
  return row
}

/** Decides a dispute. Of concurrent decisions the first one wins. */
export async function resolveDispute(
  sql: Queryable,
  chainId: number,
  internalId: bigint,
  { note, upheld, by, at }: { note: string; upheld: boolean; by: Buffer; at: Date },
): Promise<'resolved' | 'not disputed' | 'unknown'> {
  const { count } = await sql`
    WITH resolved AS (
      UPDATE market.reviews SET comparison_outcome = 'resolved'
      WHERE internal_id = ${internalId} AND chain_id = ${chainId} AND comparison_outcome = 'disputed'
      RETURNING internal_id
    )
    INSERT INTO market.dispute_decisions (internal_id, decided_at, decided_by, note, upheld)
    SELECT internal_id, ${at}::timestamptz, ${by}::bytea, ${note}::text, ${upheld}::boolean FROM resolved`
  if (count === 1) return 'resolved'
  const [row] = await sql`
    SELECT FROM market.reviews WHERE internal_id = ${internalId} AND chain_id = ${chainId}`
  return row ? 'not disputed' : 'unknown'
}
