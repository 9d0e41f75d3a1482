import { randomUUID } from 'node:crypto'
import type { Queryable, Transaction } from '@referrer/database'
import { whenBought } from '../../kit/chain-order.ts'
import type { Context } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import { BY_ESCROW, buyerReview } from '../../market/escrows/buyer-review.ts'
import { isPledged } from '../../market/escrows/pledged.ts'
import type { Change } from '../following/following.ts'
import { DAY_MS, type Progress, type Purchase } from './due.ts'

/** Identifies a purchase on its chain. */
export type Payment = { contract: Buffer; payer: Buffer; nonce: Buffer }

/** A purchase with what was sent about it. `progress` is undefined when there is no notice yet, `purchase` when the chain has dropped it. */
export type Found = {
  payment: Payment
  notice: { escrow_id: bigint; window_end: Date; lease_token: string | null } | undefined
  progress: Progress | undefined
  purchase: Purchase | undefined
}

/** A notice that a worker has claimed. */
export type Claimed = Payment & { chain_id: number; lease_token: string; ahead_ms: number }

const arrayOf = (sql: Queryable, payments: readonly Payment[]) => sql`
  unnest(${payments.map(({ contract }) => contract)}::bytea[], ${payments.map(({ payer }) => payer)}::bytea[],
    ${payments.map(({ nonce }) => nonce)}::bytea[]) AS p (contract, payer, nonce)`

/** The payments of the purchases that changed, or whose buyers' reviews changed. */
export async function changedPayments(
  sql: Queryable,
  chainId: number,
  changes: readonly Change[],
): Promise<Payment[]> {
  const purchases = changes.filter((change) => change.what === 'purchase')
  const reviews = changes.filter((change) => change.what === 'review').map(({ internalId }) => internalId)
  if (purchases.length === 0 && reviews.length === 0) return []
  // Of `market.reviews`, because a review that the chain has dropped is not in `chain.reviews` any more.
  return sql<Payment[]>`
    SELECT contract, payer, nonce FROM ${arrayOf(sql, purchases)}
    UNION
    SELECT e.contract, e.payer, e.nonce FROM market.reviews AS m
    -- OFFSET keeps the planner from another order, in which it would read all purchases.
    CROSS JOIN LATERAL (
      SELECT * FROM chain.escrows WHERE chain_id = ${chainId} AND escrow_id = m.proof_id OFFSET 0) AS e
    WHERE m.internal_id = ANY(${reviews}::bigint[]) AND m.proof_kind = ${BY_ESCROW}
      AND e.buyer_agent_id = m.agent_id`
}

/** Reads notices and purchases after it has locked the notices, so that nobody changes them until the transaction ends. */
export async function readLocked(
  tx: Transaction,
  chainId: number,
  payments: readonly Payment[],
): Promise<Found[]> {
  if (payments.length === 0) return []
  // LIMIT 1 forces an index lookup per row; with a plain join the planner may scan the whole table.
  const same = tx`
    chain_id = ${chainId} AND payer = p.payer AND nonce = p.nonce AND contract = p.contract LIMIT 1`
  // A statement of its own: what the next one reads is then as new as the lock.
  await tx`
    SELECT FROM ${arrayOf(tx, payments)}
    CROSS JOIN LATERAL (SELECT FROM market.notices WHERE ${same} FOR UPDATE) AS n`
  const rows = await tx<FoundRow[]>`
    SELECT p.*, n.escrow_id AS noticed_id, n.window_end AS noticed_end, n.lease_token,
      n.pinged, n.done_at, n.remind_at, n.is_repeat, n.attempts, n.retry_at, n.sequence, n.sending_channel, n.sending_chat,
      e.escrow_id, e.buyer_agent_id, e.deposited_at, e.bound_at, e.window_end, e.settled_at,
      EXISTS (SELECT FROM ${buyerReview(tx, chainId)} AND m.content IS NOT NULL) AS reviewed
    FROM ${arrayOf(tx, payments)}
    LEFT JOIN LATERAL (SELECT * FROM market.notices WHERE ${same}) AS n ON true
    LEFT JOIN LATERAL (SELECT * FROM chain.escrows WHERE ${same}) AS e ON true`
  return rows.map(foundOf)
}

type FoundRow = Payment &
  Progress &
  Purchase & {
    /** Null, with all columns of `Progress`: there is no notice. */
    noticed_id: bigint | null
    noticed_end: Date
    lease_token: string | null
    /** Null, with all columns of `Purchase`: the chain has dropped the purchase. */
    escrow_id: bigint | null
  }

function foundOf({ contract, payer, nonce, noticed_id, noticed_end, lease_token, ...row }: FoundRow): Found {
  return {
    payment: { contract, payer, nonce },
    notice: noticed_id === null ? undefined : { escrow_id: noticed_id, window_end: noticed_end, lease_token },
    progress: noticed_id === null ? undefined : row,
    purchase: row.escrow_id === null ? undefined : row,
  }
}

/** When the next message of a purchase is due. */
export type Planned = Payment & { escrow_id: bigint; window_end: Date; due_at: Date | null }

/** Inserts notices, or updates when they are due. */
export async function writePlanned(
  tx: Transaction,
  chainId: number,
  planned: readonly Planned[],
): Promise<void> {
  if (planned.length === 0) return
  await tx`
    INSERT INTO market.notices (chain_id, contract, payer, nonce, escrow_id, window_end, due_at)
    SELECT ${chainId}, * FROM unnest(
      ${planned.map(({ contract }) => contract)}::bytea[], ${planned.map(({ payer }) => payer)}::bytea[],
      ${planned.map(({ nonce }) => nonce)}::bytea[], ${planned.map(({ escrow_id }) => escrow_id)}::bigint[],
      ${planned.map(({ window_end }) => window_end.toISOString())}::timestamptz[],
      ${planned.map(({ due_at }) => due_at?.toISOString() ?? null)}::timestamptz[])
    ON CONFLICT (chain_id, payer, nonce, contract) DO UPDATE
      SET escrow_id = excluded.escrow_id, window_end = excluded.window_end, due_at = excluded.due_at`
}

/**
 * The clock of each chain. Days are counted by the later one of our clock and the chain's newest block, as the oracle counts the window:
 * on a test network one can let days pass.
 */
const clocks = (sql: Queryable, chainIds: readonly number[], now: Date) => sql`
  SELECT chain_id, greatest(block_time, ${now}::timestamptz) AS time FROM indexer.checkpoints
  WHERE chain_id = ANY(${[...chainIds]}::bigint[])`

/** How far the clock of each chain is ahead of ours, in milliseconds. */
export async function readAhead(
  sql: Queryable,
  chainIds: readonly number[],
  now: Date,
): Promise<Map<number, number>> {
  const rows = await sql<{ chain_id: bigint; time: Date }[]>`${clocks(sql, chainIds, now)}`
  return new Map(rows.map(({ chain_id, time }) => [Number(chain_id), time.getTime() - now.getTime()]))
}

/** Claims notices that are due, of each chain the longest due first. Nobody else gets them before the lease ends. */
export function claimDue(
  sql: Queryable,
  {
    chainIds,
    now,
    leaseMs,
    limit,
  }: { chainIds: readonly number[]; now: Date; leaseMs: number; limit: number },
): Promise<Claimed[]> {
  return sql<Claimed[]>`
    WITH due AS (
      SELECT found.*, clock.time FROM (${clocks(sql, chainIds, now)}) AS clock
      CROSS JOIN LATERAL (
        SELECT chain_id, payer, nonce, contract FROM market.notices
        WHERE chain_id = clock.chain_id AND due_at <= clock.time AND (lease_until IS NULL OR lease_until <= clock.time)
        ORDER BY due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED) AS found
    )
    UPDATE market.notices AS n
    SET lease_token = ${randomUUID()}, lease_until = due.time + ${leaseMs} * INTERVAL '1 millisecond'
    FROM due
    WHERE (n.chain_id, n.payer, n.nonce, n.contract) = (due.chain_id, due.payer, due.nonce, due.contract)
    RETURNING n.chain_id::float8 AS chain_id, n.contract, n.payer, n.nonce, n.lease_token,
      extract(epoch FROM due.time - ${now}::timestamptz)::float8 * 1000 AS ahead_ms`
}

/** Reads a claimed notice after it has locked it. Undefined: the lease has ended, and somebody else has the notice. */
export async function readClaimed(
  tx: Transaction,
  claimed: Claimed,
): Promise<(Found & { progress: Progress }) | undefined> {
  const [found] = await readLocked(tx, claimed.chain_id, [claimed])
  if (!found?.progress || found.notice?.lease_token !== claimed.lease_token) return undefined
  return { ...found, progress: found.progress }
}

/** Writes what became of a message, and when the next one is due. `keepsLease`: the same worker goes on with it. */
export async function writeProgress(
  tx: Transaction,
  notice: Payment & { chain_id: number },
  { progress, dueAt, keepsLease }: { progress: Progress; dueAt: Date | null; keepsLease: boolean },
): Promise<void> {
  const { pinged, done_at, remind_at, is_repeat, attempts, retry_at, sequence } = progress
  const { sending_channel, sending_chat } = progress
  await tx`
    UPDATE market.notices AS n SET due_at = ${dueAt}, pinged = ${pinged}, done_at = ${done_at}, remind_at = ${remind_at},
      is_repeat = ${is_repeat}, attempts = ${attempts}, retry_at = ${retry_at}, sequence = ${sequence},
      sending_channel = ${sending_channel}, sending_chat = ${sending_chat}
      ${keepsLease ? tx`` : tx`, lease_token = NULL, lease_until = NULL`}
    WHERE ${isNotice(tx, notice)}`
}

const isNotice = (sql: Queryable, { chain_id, payer, nonce, contract }: Payment & { chain_id: number }) =>
  sql`chain_id = ${chain_id} AND payer = ${payer} AND nonce = ${nonce} AND contract = ${contract}`

/** Where a message about a purchase goes, and what it tells. */
export type Addressed = {
  channel: string
  chat: string
  product: string | null
  price: bigint
  /** What the buyer's review can still earn. */
  cashback: bigint
}

/** Finds the chat of the wallet that owns the buyer now. Undefined: it has none, or its user has blocked the bot. */
export async function findAddressed(
  sql: Queryable,
  chainId: number,
  { escrow_id }: Pick<Purchase, 'escrow_id'>,
  { contract }: Pick<Payment, 'contract'>,
): Promise<Addressed | undefined> {
  const [row] = await sql<Addressed[]>`
    SELECT l.channel, l.chat, p.name AS product, e.price,
      CASE WHEN e.cashback_released_at IS NULL AND (
        SELECT ${isPledged(sql)} FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
        WHERE c.chain_id = ${chainId} AND c.review_id = e.review_id) THEN e.cashback ELSE 0 END AS cashback
    FROM chain.escrows AS e
    JOIN chain.identities AS i ON i.chain_id = ${chainId} AND i.agent_id = e.buyer_agent_id
    JOIN market.chat_links AS l ON l.owner = i.owner AND l.blocked_at IS NULL
    LEFT JOIN market.products AS p
      ON p.chain_id = ${chainId} AND p.merchant_id = e.merchant_id AND p.product_id = e.product_id
    WHERE e.chain_id = ${chainId} AND e.escrow_id = ${escrow_id} AND e.contract = ${contract}`
  return row
}

/** Purchases with this escrow id, on these chains, by agents that these wallets own now; the newest first. */
export function purchasesOfOwners(
  sql: Queryable,
  chainIds: readonly number[],
  owners: readonly Buffer[],
  escrowId: bigint,
): Promise<(Payment & { chain_id: number })[]> {
  return sql<(Payment & { chain_id: number })[]>`
    SELECT e.chain_id::float8 AS chain_id, e.contract, e.payer, e.nonce FROM chain.escrows AS e
    JOIN chain.identities AS i ON i.chain_id = e.chain_id AND i.agent_id = e.buyer_agent_id
    WHERE e.chain_id = ANY(${[...chainIds]}::bigint[]) AND e.escrow_id = ${escrowId}
      AND i.owner = ANY(${[...owners]}::bytea[])
    ORDER BY ${whenBought(sql)} DESC`
}

/** Since when the longest due notice of these chains waits; undefined: none is due. */
export async function oldestDue(sql: Queryable, chainIds: readonly number[]): Promise<Date | undefined> {
  const [row] = await sql<{ due_at: Date | null }[]>`
    SELECT min(due_at) AS due_at FROM unnest(${[...chainIds]}::bigint[]) AS chain (id) CROSS JOIN LATERAL (
      SELECT due_at FROM market.notices WHERE chain_id = chain.id AND due_at IS NOT NULL
      ORDER BY due_at LIMIT 1) AS first`
  return row?.due_at ?? undefined
}

const KEPT_DAYS = 30
const SWEPT_AT_ONCE = 1_000

/** Deletes notices some time after the window of their purchase has ended. */
export const sweepNotices = ({ clock }: Pick<Context, 'clock'>): Schedule => ({
  name: 'sweep-notices',
  everySeconds: 3_600,
  async run({ signal, sql }) {
    const before = new Date(clock() - KEPT_DAYS * DAY_MS)
    while (!signal.aborted) {
      const { count } = await sql`
        DELETE FROM market.notices WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM market.notices WHERE window_end < ${before} ORDER BY window_end LIMIT ${SWEPT_AT_ONCE}))`
      if (count < SWEPT_AT_ONCE) return
    }
  },
})
