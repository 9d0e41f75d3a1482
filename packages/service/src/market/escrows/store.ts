import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import { buyerReview } from './buyer-review.ts'
import { isPledged } from './pledged.ts'
import { skippedFor } from './skipped.ts'

/** A purchase and where its commission went. */
export type EscrowRow = {
  contract: Buffer
  escrow_id: bigint
  reviewer_agent_id: bigint
  /** Null: bought by a wallet without an agent. */
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
  bound_at: Date | null
  cashback_released_at: Date | null
  settled_at: Date | null
  fallback_used: boolean | null
  held_back_to_reviewer: bigint | null
  held_back_to_treasury: bigint | null
  cashback_to_buyer: bigint | null
  cashback_to_reviewer: bigint | null
  /** The buyer's review. Null: not on the chain; false: there without a text that is known; true: published. */
  buyer_review: boolean | null
  /** What the oracle has found of the review that led to the purchase, and what an admin decided of a dispute. Null: nothing. */
  comparison_outcome: string | null
  upheld: boolean | null
  /** Whether that review pledges this cashback; null: it is not on the chain. */
  is_pledged: boolean | null
  /** What the oracle has decided to settle it with and has sent, or will; null, both: nothing that is sure to happen. */
  decided_contradicted: boolean | null
  decided_earned: boolean | null
}

/** What the contract wants to be told of an escrow by whoever acts on it, and where. */
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

const columns = (sql: Queryable) => sql`
  contract, escrow_id, reviewer_agent_id, buyer_agent_id, payer, nonce, merchant_id, product_id, review_id, price, commission, fee,
  held_back, cashback, window_end, deposited_at, bound_at, cashback_released_at, settled_at, fallback_used,
  held_back_to_reviewer, held_back_to_treasury, cashback_to_buyer, cashback_to_reviewer`

/** Those in which an agent has a part, as reviewer, as buyer or as both, newest first. */
export function escrowsOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  { limit, offset }: Page,
): Promise<EscrowRow[]> {
  // The newest of one part and the newest of the other hold the newest of both: neither is read further than the page goes.
  const newest = limit + offset
  const part = (role: 'reviewer_agent_id' | 'buyer_agent_id') => sql`(
    SELECT ${columns(sql)} FROM chain.escrows WHERE chain_id = ${chainId} AND ${sql(role)} = ${agentId}
    ORDER BY deposited_at DESC, escrow_id DESC LIMIT ${newest})`
  return sql<EscrowRow[]>`
    WITH page AS (
      SELECT DISTINCT ON (deposited_at, escrow_id, contract) *
      FROM (${part('reviewer_agent_id')} UNION ALL ${part('buyer_agent_id')}) AS parts
      ORDER BY deposited_at DESC, escrow_id DESC, contract LIMIT ${limit} OFFSET ${offset}
    )
    SELECT e.*, ${around(sql)} FROM page AS e ${aroundIt(sql, chainId)} ORDER BY deposited_at DESC, escrow_id DESC, contract`
}

const around = (sql: Queryable) => sql`
  bought.buyer_review, review.comparison_outcome, review.upheld, review.is_pledged,
  decision.contradicted AS decided_contradicted, decision.cashback_earned AS decided_earned`

/** A day later anybody may settle it, and what the oracle has decided is one of two ways in which it may end. */
const SURE = '9 days'

/** To be joined to an escrow `e`. */
const aroundIt = (sql: Queryable, chainId: number) => sql`
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
      AND (SELECT block_time FROM indexer.checkpoints WHERE chain_id = ${chainId}) < e.window_end + ${SURE}::interval
    ORDER BY d.attempt DESC LIMIT 1) AS decision ON true`

/** The newest of that id in which an agent has a part: escrow contracts that replace each other all count from 1. */
export async function findEscrowOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  escrowId: bigint,
): Promise<EscrowRow | undefined> {
  const [row] = await sql<EscrowRow[]>`
    WITH found AS (
      SELECT ${columns(sql)} FROM chain.escrows
      WHERE chain_id = ${chainId} AND escrow_id = ${escrowId} AND ${agentId} IN (reviewer_agent_id, buyer_agent_id)
      ORDER BY deposited_at DESC LIMIT 1
    )
    SELECT e.*, ${around(sql)} FROM found AS e ${aroundIt(sql, chainId)}`
  return row
}

/** By the time of the chain, as far as the records go. */
export async function isWindowOver(sql: Queryable, chainId: number, windowEnd: Date): Promise<boolean> {
  const { count } = await sql`
    SELECT FROM indexer.checkpoints WHERE chain_id = ${chainId} AND block_time >= ${windowEnd}`
  return count > 0
}

/** Of an id that several contracts gave, the newest. */
export async function findTerms(
  sql: Queryable,
  chainId: number,
  escrowId: bigint,
): Promise<TermsRow | undefined> {
  const [row] = await sql<TermsRow[]>`
    SELECT contract, escrow_id, payer, nonce, merchant_id, product_id, review_id, reviewer_agent_id, buyer_agent_id, held_back, cashback,
      window_end
    FROM chain.escrows WHERE chain_id = ${chainId} AND escrow_id = ${escrowId} ORDER BY deposited_at DESC LIMIT 1`
  return row
}
