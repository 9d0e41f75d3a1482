// The oracle's decisions about escrows, and the queries for the escrows it may decide about now.
import { enqueueTransaction } from '@referrer/chain'
import type { Queryable, Transaction } from '@referrer/database'
import type { Address } from 'viem'
import { whenPublished } from '../../kit/chain-order.ts'
import type { Chain } from '../../kit/context.ts'
import { hex } from '../../kit/json-values.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import { buyerReview } from '../../market/escrows/buyer-review.ts'
import { isPledged } from '../../market/escrows/pledged.ts'
import { skippedFor } from '../../market/escrows/skipped.ts'
import { batchesOf, callOf, labelOf } from './calls.ts'
import type { Decision, Kind } from './decision.ts'

/** The account that decides, and the time. */
export interface By {
  /** The oracle's account. */
  from: Address
  now: Date
}

/** A transaction queued under another key of the oracle is given this long before it is decided again. */
const OTHER_KEY_SECONDS = 600

/**
 * Locks the decisions of a chain until the transaction ends. Escrows must be read only under this lock, so that two
 * replicas never make the same decision.
 */
export async function lockDecisions(tx: Transaction, chainId: number): Promise<void> {
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`oracle/${chainId}`}, 0))`
}

/** The columns of `Undecided`, for an escrow `e` joined with `lastDecision`. */
export const undecided = (sql: Queryable, chainId: number) => sql`
  e.contract, e.escrow_id, e.payer, e.nonce, e.merchant_id, e.product_id, e.review_id, e.reviewer_agent_id, e.buyer_agent_id,
  e.held_back, e.cashback, e.window_end, coalesce(last.attempt, 0) AS attempts,
  (SELECT m.internal_id FROM ${buyerReview(sql, chainId)} AND m.content IS NOT NULL ORDER BY ${whenPublished(sql)} LIMIT 1) AS buyer_review,
  coalesce((
    SELECT ${isPledged(sql)} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE c.chain_id = ${chainId} AND c.review_id = e.review_id), false) AS is_pledged`

/** The last decision of a kind, as `last`, to be joined to an escrow `e`. */
export const lastDecision = (sql: Queryable, chainId: number, kind: Kind) => sql`
  LATERAL (
    SELECT d.attempt, d.decided_at, i.block_number, i.from_address,
      CASE WHEN i.state = 'confirmed' AND ${skippedFor(sql)} IS NOT NULL THEN 'failed' ELSE i.state END AS state
    FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
    WHERE d.chain_id = ${chainId} AND d.payer = e.payer AND d.nonce = e.nonce AND d.contract = e.contract AND d.kind = ${kind}
    ORDER BY d.attempt DESC LIMIT 1) AS last`

/**
 * Whether an escrow that is open in the records needs a (further) decision. A failed attempt is retried after a
 * minute, then after twice as long each time, up to an hour. So is a confirmed one whose effect the records do not
 * show although they are past its block: a reorganisation deeper than the chain's `confirmations` has undone it. So
 * is one queued under a key that is not the oracle's any more, because perhaps no replica has that key; if both
 * transactions reach the chain, the first one counts.
 */
export const mayDecide = (sql: Queryable, chainId: number, { from, now }: By) => sql`(
  last.attempt IS NULL OR (
    last.decided_at + least(interval '1 hour', interval '1 minute' * 2 ^ least(last.attempt - 1, 6)) <= ${now}
    AND (last.state = 'failed' OR (last.state = 'confirmed' AND last.block_number <= (
      SELECT block_number FROM indexer.checkpoints WHERE chain_id = ${chainId}))))
  OR (
    last.state IN ('enqueued', 'sent') AND last.from_address <> ${bytesOf(from)}
    AND last.decided_at + ${OTHER_KEY_SECONDS} * interval '1 second' <= ${now}))`

/**
 * Stores decisions and puts their transactions into the outbox. The caller must hold the lock of `lockDecisions`. An
 * attempt for an escrow is in one transaction only, so the first escrow of a batch is enough for a unique key.
 */
export async function enterDecisions(
  tx: Transaction,
  { config: { chainId } }: Chain,
  { from, now }: By,
  decisions: readonly Decision[],
): Promise<void> {
  if (decisions.length === 0) return
  const batches = batchesOf(decisions)
  const transactionIds = await Promise.all(
    batches.map((batch) => {
      const [{ kind, escrow }] = batch
      return enqueueTransaction(tx, {
        chainId,
        from,
        to: hex(escrow.contract),
        data: callOf(batch),
        key: `oracle/${kind}/${hex(escrow.contract)}/${hex(escrow.payer)}/${hex(escrow.nonce)}/${escrow.attempts + 1}`,
        label: labelOf(batch),
      })
    }),
  )
  const entries = batches.flatMap((batch, at) =>
    batch.map((decision) => ({ ...decision, transactionId: transactionIds[at] ?? null })),
  )
  const column = <T>(pick: (entry: (typeof entries)[number]) => T) => entries.map(pick)
  await tx`
    INSERT INTO market.escrow_decisions (chain_id, contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned,
      inputs, decided_at, transaction_id)
    SELECT ${chainId}, contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned, inputs::jsonb, ${now},
      transaction_id
    FROM unnest(
      ${column(({ escrow }) => escrow.contract)}::bytea[],
      ${column(({ escrow }) => escrow.payer)}::bytea[],
      ${column(({ escrow }) => escrow.nonce)}::bytea[],
      ${column(({ kind }) => kind)}::text[],
      ${column(({ escrow }) => escrow.attempts + 1)}::integer[],
      ${column(({ escrow }) => escrow.escrow_id)}::bigint[],
      ${column(({ contradicted }) => contradicted)}::boolean[],
      ${column(({ cashbackEarned }) => cashbackEarned)}::boolean[],
      ${column(({ inputs }) => JSON.stringify(inputs))}::text[],
      ${column(({ transactionId }) => transactionId)}::bigint[]
    ) AS d (contract, payer, nonce, kind, attempt, escrow_id, contradicted, cashback_earned, inputs, transaction_id)`
}

const CLOSED_AT_ONCE = 1_000

/**
 * Closes decisions that need no further attention: their transaction is final and the records show nothing left to
 * do, or there is a later attempt. False: there may be more of them.
 */
export async function closeDecisions(sql: Queryable, chainId: number): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.escrow_decisions AS d SET is_open = false
    FROM (
      SELECT d.payer, d.nonce, d.contract, d.kind, d.attempt
      FROM market.escrow_decisions AS d JOIN sender.intents AS i ON i.id = d.transaction_id
      WHERE d.chain_id = ${chainId} AND d.is_open AND (
        i.state IN ('confirmed', 'failed') AND NOT EXISTS (
          SELECT FROM chain.escrows AS e
          WHERE e.chain_id = ${chainId} AND e.payer = d.payer AND e.nonce = d.nonce AND e.contract = d.contract
            AND e.settled_at IS NULL AND (d.kind = 'settle' OR e.cashback_released_at IS NULL))
        OR EXISTS (
          SELECT FROM market.escrow_decisions AS later
          WHERE later.chain_id = ${chainId} AND later.payer = d.payer AND later.nonce = d.nonce AND later.contract = d.contract
            AND later.kind = d.kind AND later.attempt > d.attempt))
      LIMIT ${CLOSED_AT_ONCE}
      -- Two who close the same ones in another order would wait for each other.
      FOR UPDATE OF d SKIP LOCKED
    ) AS over
    WHERE d.chain_id = ${chainId} AND d.payer = over.payer AND d.nonce = over.nonce AND d.contract = over.contract
      AND d.kind = over.kind AND d.attempt = over.attempt`
  return count < CLOSED_AT_ONCE
}
