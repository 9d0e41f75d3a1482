// Reads the oracle's findings and decisions, with everything they are based on.
import type { Queryable } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'
import { skippedFor } from '../../market/escrows/skipped.ts'

export type ReviewFound = {
  internal_id: bigint
  author_owner: Buffer | null
  comparison_outcome: string
}

/** Finds a published review by its on-chain id. */
export async function findCompared(
  sql: Queryable,
  chainId: number,
  reviewId: bigint,
): Promise<ReviewFound | undefined> {
  const [row] = await sql<ReviewFound[]>`
    SELECT m.internal_id, m.author_owner, m.comparison_outcome
    FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.review_id = ${reviewId}`
  return row
}

export type FindingRow = {
  outcome: 'pending' | 'confirmed' | 'contradicted'
  satisfaction: number
  others: number
  others_weight: bigint
  others_weighted: bigint
  size: number
  found_at: Date
  /** Null, with all columns below: there was nothing to compare with. */
  comparison_id: bigint | null
  made_at: Date
  voided_at: Date | null
  opinions: number
  size_sum: bigint
  weight: bigint
  weighted: bigint
}

/** Newest first. */
export const findingsOf = (sql: Queryable, internalId: bigint, limit: number) => sql<FindingRow[]>`
  SELECT f.outcome, f.satisfaction, f.others, f.others_weight, f.others_weighted, f.size, f.found_at,
    comparison_id, k.made_at, k.voided_at, k.opinions, k.size AS size_sum, k.weight, k.weighted
  FROM market.findings AS f LEFT JOIN market.comparisons AS k USING (comparison_id)
  WHERE f.internal_id = ${internalId} ORDER BY f.finding_id DESC LIMIT ${limit}`

export type InputRow = {
  comparison_id: bigint
  owner: Buffer
  internal_id: bigint
  satisfaction: number
  size: number
  weight: number
}

/** The opinions in these comparisons, at most `limit` of each. */
export const inputsOf = (sql: Queryable, comparisonIds: readonly bigint[], limit: number) => sql<InputRow[]>`
  SELECT i.* FROM unnest(${[...comparisonIds]}::bigint[]) AS asked (comparison_id)
  CROSS JOIN LATERAL (
    SELECT * FROM market.comparison_inputs AS i WHERE i.comparison_id = asked.comparison_id ORDER BY owner LIMIT ${limit}) AS i`

export type DecisionRow = {
  kind: 'release' | 'settle'
  attempt: number
  contradicted: boolean
  cashback_earned: boolean
  inputs: Record<string, unknown>
  decided_at: Date
  state: 'enqueued' | 'sent' | 'confirmed' | 'failed'
  hash: Buffer | null
  reason: string | null
  /** The error for which the batch skipped this escrow; null: it did not. */
  skipped_for: Buffer | null
}

/** Decisions about the newest escrow with that id, newest first. Undefined: there is no such escrow. */
export async function decisionsOf(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
  limit: number,
): Promise<DecisionRow[] | undefined> {
  const [escrow] = await sql<{ payer: Buffer; nonce: Buffer; contract: Buffer }[]>`
    SELECT payer, nonce, contract FROM chain.escrows AS e WHERE chain_id = ${chainId} AND escrow_id = ${escrowId}
    ORDER BY ${whenBought(sql)} DESC LIMIT 1`
  if (!escrow) return undefined
  return sql<DecisionRow[]>`
    SELECT d.kind, d.attempt, d.contradicted, d.cashback_earned, d.inputs, d.decided_at, i.state, i.reason, ${skippedFor(sql)} AS skipped_for,
      coalesce(i.mined_hash, (
        SELECT t.hash FROM sender.transactions AS t WHERE t.intent_id = i.id ORDER BY t.signed_at DESC LIMIT 1)) AS hash
    FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} AND d.payer = ${escrow.payer} AND d.nonce = ${escrow.nonce} AND d.contract = ${escrow.contract}
    ORDER BY d.decided_at DESC, d.transaction_id DESC LIMIT ${limit}`
}
