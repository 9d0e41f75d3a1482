import type { Queryable } from '@referrer/database'
import type { Page } from '../db/page.ts'
import { buyerReview } from './buyer-review.ts'

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
    SELECT e.*, ${reviewState(sql, chainId)} FROM page AS e ORDER BY deposited_at DESC, escrow_id DESC, contract`
}

const reviewState = (sql: Queryable, chainId: number) => sql`
  (SELECT bool_or(m.content IS NOT NULL) FROM ${buyerReview(sql, chainId)}) AS buyer_review`

/** The newest of that id in which an agent has a part: escrow contracts that replace each other all count from 1. */
export async function findEscrowOfAgent(
  sql: Queryable,
  chainId: number,
  agentId: bigint,
  escrowId: bigint,
): Promise<EscrowRow | undefined> {
  const [row] = await sql<EscrowRow[]>`
    SELECT ${columns(sql)}, ${reviewState(sql, chainId)} FROM chain.escrows AS e
    WHERE chain_id = ${chainId} AND escrow_id = ${escrowId} AND ${agentId} IN (reviewer_agent_id, buyer_agent_id)
    ORDER BY deposited_at DESC LIMIT 1`
  return row
}
