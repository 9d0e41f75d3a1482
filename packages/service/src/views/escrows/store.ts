import type { Queryable } from '@referrer/database'
import { buyerReview } from '../../market/escrows/buyer-review.ts'
import { skippedFor } from '../../market/escrows/skipped.ts'
import type { EscrowRow } from '../../market/escrows/store.ts'

type EscrowKey = Pick<EscrowRow, 'contract' | 'payer' | 'nonce'>

export type BuyerReviewRow = {
  internal_id: bigint
  review_id: bigint
  published_at: Date
  satisfaction_score: number | null
}

/** The newest review that the buyer published about a purchase. */
export async function findBuyerReview(
  sql: Queryable,
  chainId: number,
  { contract, escrow_id }: Pick<EscrowRow, 'contract' | 'escrow_id'>,
): Promise<BuyerReviewRow | undefined> {
  const [row] = await sql<BuyerReviewRow[]>`
    SELECT review.* FROM chain.escrows AS e, LATERAL (
      SELECT m.internal_id, c.review_id, c.published_at, m.satisfaction_score FROM ${buyerReview(sql, chainId)}
      ORDER BY c.review_id DESC LIMIT 1) AS review
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrow_id} AND e.contract = ${contract}`
  return row
}

export type VoteRow = {
  review_internal_id: bigint
  /** Null: the review is not on the chain. */
  review_id: bigint | null
  author_agent_id: bigint
  reasoning: string
  qualifies: boolean
  cast_at: Date
}

/** The votes of a purchase, in the order in which they were sent. */
export const votesOf = (sql: Queryable, chainId: number, { contract, payer, nonce }: EscrowKey) =>
  sql<VoteRow[]>`
    SELECT v.review_internal_id, c.review_id, v.author_agent_id, v.reasoning, v.qualifies, v.cast_at
    FROM market.ballots AS b JOIN market.votes AS v USING (ballot_id)
    LEFT JOIN chain.reviews AS c ON c.internal_id = v.review_internal_id
    WHERE b.chain_id = ${chainId} AND b.payer = ${payer} AND b.nonce = ${nonce} AND b.contract = ${contract}
    ORDER BY v.position`

/** The transactions by which the oracle released the cashback and settled the escrow, as far as it did. */
export async function transactionsOf(
  sql: Queryable,
  chainId: number,
  { contract, payer, nonce }: EscrowKey,
): Promise<Map<'release' | 'settle', Buffer>> {
  const rows = await sql<{ kind: 'release' | 'settle'; mined_hash: Buffer }[]>`
    SELECT d.kind, i.mined_hash FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} AND d.payer = ${payer} AND d.nonce = ${nonce} AND d.contract = ${contract}
      AND i.mined_hash IS NOT NULL AND i.state <> 'failed' AND ${skippedFor(sql)} IS NULL
    ORDER BY d.attempt`
  return new Map(rows.map(({ kind, mined_hash }) => [kind, mined_hash]))
}
