import type { Queryable } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'
import type { Page } from '../../machinery/db/page.ts'
import { buyerReview } from './buyer-review.ts'
import { isPledged } from './pledged.ts'
import { skippedFor } from './skipped.ts'

/** A purchase, and the payouts of its commission. */
export type EscrowRow = {
  contract: Buffer
  escrow_id: bigint
  reviewer_agent_id: bigint
  /** Null when the buyer is a wallet without an agent. */
  buyer_agent_id: bigint | null
  payer: Buffer
  nonce: Buffer
  merchant_id: bigint
  product_id: Buffer
  review_id: bigint
  price: bigint
  commission: bigint
  fee: bigint
  held_back: bigint
  cashback: bigint
  window_end: Date
  deposited_at: Date
  block_number: bigint
  log_index: number
  bound_at: Date | null
  cashback_released_at: Date | null
  settled_at: Date | null
  fallback_used: boolean | null
  held_back_to_reviewer: bigint | null
  held_back_to_treasury: bigint | null
  cashback_to_buyer: bigint | null
  cashback_to_reviewer: bigint | null
  /** State of the buyer's review. Null: not on the chain; false: on the chain, but its text is not known; true: published. */
  buyer_review: boolean | null
  /** The oracle's outcome for the review that led to the purchase, and an admin's decision of its dispute; null when there is none. */
  comparison_outcome: string | null
  upheld: boolean | null
  /** Whether that review pledges this cashback; null when the review is not on the chain. */
  is_pledged: boolean | null
  /** The settlement that the oracle has decided and is sending; both are null when there is none or another one may come first. */
  decided_contradicted: boolean | null
  decided_earned: boolean | null
}

/** The terms of an escrow, which every call on it must pass, and the address of its contract. */
export type TermsRow = Pick<
  EscrowRow,
  | 'contract'
  | 'escrow_id'
  | 'payer'
  | 'nonce'
  | 'merchant_id'
  | 'product_id'
  | 'review_id'
  | 'reviewer_agent_id'
  | 'buyer_agent_id'
  | 'held_back'
  | 'cashback'
  | 'window_end'
>

export const escrowColumns = (sql: Queryable) => sql`
  contract, escrow_id, reviewer_agent_id, buyer_agent_id, payer, nonce, merchant_id, product_id, review_id, price, commission, fee,
  held_back, cashback, window_end, deposited_at, block_number, log_index, bound_at, cashback_released_at, settled_at, fallback_used,
  held_back_to_reviewer, held_back_to_treasury, cashback_to_buyer, cashback_to_reviewer`

/** The escrows of an agent, as reviewer, buyer or both, newest first. */
export function escrowsOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset }: Page,
): Promise<EscrowRow[]> {
  // The newest rows of each role together contain the newest of both, so neither role is read further than the end of the page.
  const newest = limit + offset
  const part = (role: 'reviewer_agent_id' | 'buyer_agent_id') => sql`(
    SELECT ${escrowColumns(sql)} FROM chain.escrows WHERE chain_id = ${chainId} AND ${sql(role)} = ${agentId}
    ORDER BY deposited_at DESC, escrow_id DESC LIMIT ${newest})`
  return sql<EscrowRow[]>`
    WITH page AS (
      SELECT DISTINCT ON (deposited_at, escrow_id, contract) *
      FROM (${part('reviewer_agent_id')} UNION ALL ${part('buyer_agent_id')}) AS parts
      ORDER BY deposited_at DESC, escrow_id DESC, contract LIMIT ${limit} OFFSET ${offset}
    )
    SELECT e.*, ${relatedColumns(sql)} FROM page AS e ${relatedJoins(sql, chainId)} ORDER BY deposited_at DESC, escrow_id DESC, contract`
}

/** What `relatedJoins` finds for an escrow. */
export const relatedColumns = (sql: Queryable) => sql`
  bought.buyer_review, review.comparison_outcome, review.upheld, review.is_pledged,
  decision.contradicted AS decided_contradicted, decision.cashback_earned AS decided_earned`

/**
 * How long after the window's end the oracle's decision is sure to apply. A day later everybody may settle, with perhaps another outcome.
 */
const DECISION_SURE_FOR = '9 days'

/** Joins the data around an escrow `e`: its reviews and the oracle's decision. */
export const relatedJoins = (sql: Queryable, chainId: number) => sql`
  CROSS JOIN LATERAL (
    SELECT bool_or(m.content IS NOT NULL) AS buyer_review FROM ${buyerReview(sql, chainId)}) AS bought
  LEFT JOIN LATERAL (
    SELECT m.comparison_outcome, r.upheld, ${isPledged(sql)} AS is_pledged
    FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id) LEFT JOIN market.dispute_decisions AS r USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.review_id = e.review_id) AS review ON true
  LEFT JOIN LATERAL (
    SELECT d.contradicted, d.cashback_earned
    FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} AND d.payer = e.payer AND d.nonce = e.nonce AND d.contract = e.contract AND d.kind = 'settle'
      AND i.state <> 'failed' AND ${skippedFor(sql)} IS NULL AND e.settled_at IS NULL
      AND (SELECT block_time FROM indexer.checkpoints WHERE chain_id = ${chainId}) < e.window_end + ${DECISION_SURE_FOR}::interval
    ORDER BY d.attempt DESC LIMIT 1) AS decision ON true`

/** The newest escrow with this id. Each deployment of the escrow contract counts from 1, so an id can occur twice. */
export const findEscrow = (sql: Queryable, chainId: number, escrowId: bigint) =>
  findNewest(sql, chainId, escrowId, sql`true`)

/** The newest escrow of an agent with this id. */
export const findEscrowOfAgent = (sql: Queryable, chainId: number, agentId: bigint, escrowId: bigint) =>
  findNewest(sql, chainId, escrowId, sql`${agentId} IN (reviewer_agent_id, buyer_agent_id)`)

async function findNewest(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
  condition: ReturnType<Queryable>,
): Promise<EscrowRow | undefined> {
  const [row] = await sql<EscrowRow[]>`
    WITH found AS (
      SELECT ${escrowColumns(sql)} FROM chain.escrows AS e
      WHERE chain_id = ${chainId} AND escrow_id = ${escrowId} AND ${condition}
      ORDER BY ${whenBought(sql)} DESC LIMIT 1
    )
    SELECT e.*, ${relatedColumns(sql)} FROM found AS e ${relatedJoins(sql, chainId)}`
  return row
}

/** Whether the window is over by the time of the last indexed block. */
export async function isWindowOver(sql: Queryable, chainId: number, windowEnd: Date): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM indexer.checkpoints WHERE chain_id = ${chainId} AND block_time >= ${windowEnd}`
  return count > 0
}

/** The terms of an escrow; of several contracts with the same id, the newest. */
export async function findTerms(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
): Promise<TermsRow | undefined> {
  const [row] = await sql<TermsRow[]>`
    SELECT contract, escrow_id, payer, nonce, merchant_id, product_id, review_id, reviewer_agent_id, buyer_agent_id, held_back, cashback,
      window_end
    FROM chain.escrows AS e WHERE chain_id = ${chainId} AND escrow_id = ${escrowId} ORDER BY ${whenBought(sql)} DESC LIMIT 1`
  return row
}
