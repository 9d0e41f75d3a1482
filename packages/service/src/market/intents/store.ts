import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

export type IntentStatus = 'pending' | 'executed' | 'skipped' | 'withdrawn'
export type IntentType = 'buy_product'

export type IntentRow = {
  intent_id: string
  chain_id: bigint
  agent_id: bigint
  type: IntentType
  /** The payload as JSON. */
  payload: string
  status: IntentStatus
  /** The runner's words about an executed intent. */
  result: string | null
  /** The runner's reason for skipping the intent. */
  reason: string | null
  created_at: Date
  expires_at: Date
  closed_at: Date | null
}

/** Key of an agent's intents. The owner is part of it, so that after a transfer the new owner does not get the former owner's intents. */
export interface IntentsOf {
  chainId: number
  agentId: bigint
  owner: Buffer
}

export interface NewIntent extends IntentsOf {
  intentId: string
  type: IntentType
  payload: string
  at: Date
  expiresAt: Date
}

const columns = (sql: Queryable) => sql`
  intent_id, chain_id, agent_id, type, payload, status, result, reason, created_at, expires_at, closed_at`

const isUnclosed = (sql: Queryable, { chainId, agentId, owner }: IntentsOf) => sql`
  chain_id = ${chainId} AND agent_id = ${agentId} AND owner = ${owner} AND status = 'pending'`

/** A runner may have paid for one that was withdrawn at that moment. */
const isUnexecuted = (sql: Queryable, { chainId, agentId, owner }: IntentsOf) => sql`
  chain_id = ${chainId} AND agent_id = ${agentId} AND owner = ${owner} AND status IN ('pending', 'withdrawn')`

const isPending = (sql: Queryable, of: IntentsOf, now: Date) => sql`
  ${isUnclosed(sql, of)} AND expires_at > ${now}`

/** Returns undefined when `mostPending` intents are pending already. Concurrent inserts may exceed that limit by a few. */
export async function insertIntent(
  sql: Queryable,
  intent: NewIntent,
  mostPending: number,
): Promise<IntentRow | undefined> {
  const { intentId, chainId, agentId, owner, type, payload, at, expiresAt } = intent
  const [row] = await sql<IntentRow[]>`
    INSERT INTO market.intents (intent_id, chain_id, agent_id, owner, type, payload, created_at, expires_at)
    SELECT ${intentId}, ${chainId}::bigint, ${agentId}::bigint, ${owner}::bytea, ${type}, ${payload}, ${at}::timestamptz,
      ${expiresAt}::timestamptz
    WHERE (SELECT count(*) FROM market.intents WHERE ${isPending(sql, intent, at)}) < ${mostPending}
    RETURNING ${columns(sql)}`
  return row
}

/** The pending intents, oldest first. */
export function pendingIntents(
  sql: Queryable,
  of: IntentsOf,
  { now, limit }: { now: Date; limit: number },
): Promise<IntentRow[]> {
  return sql<IntentRow[]>`
    SELECT ${columns(sql)} FROM market.intents WHERE ${isPending(sql, of, now)}
    ORDER BY created_at, intent_id LIMIT ${limit}`
}

/** The intents of any status, newest first. */
export function listIntents(
  sql: Queryable,
  { chainId, agentId, owner }: IntentsOf,
  { limit, offset }: Page,
): Promise<IntentRow[]> {
  return sql<IntentRow[]>`
    SELECT ${columns(sql)} FROM market.intents
    WHERE chain_id = ${chainId} AND agent_id = ${agentId} AND owner = ${owner}
    ORDER BY created_at DESC, intent_id DESC LIMIT ${limit} OFFSET ${offset}`
}

/** The intent that one of these owners queued. */
export async function findIntent(
  sql: Queryable,
  owners: readonly Buffer[],
  intentId: string,
): Promise<IntentRow | undefined> {
  const [row] = await sql<IntentRow[]>`
    SELECT ${columns(sql)} FROM market.intents
    WHERE intent_id = ${intentId} AND owner = ANY(${owners}::bytea[])`
  return row
}

export interface Closing {
  status: 'executed' | 'skipped'
  /** The result, or the reason for skipping. */
  words: string
  at: Date
}

/**
 * Closes an intent; returns false when it is not pending or not found. Of concurrent calls the first one wins. An executed intent is
 * closed even after its expiry or its withdrawal, because the owner must learn that it was paid and must not queue it again.
 */
export async function closeIntent(
  sql: Queryable,
  of: IntentsOf,
  intentId: string,
  { status, words, at }: Closing,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.intents SET status = ${status}, ${sql(status === 'executed' ? 'result' : 'reason')} = ${words}, closed_at = ${at}
    WHERE intent_id = ${intentId} AND ${status === 'executed' ? isUnexecuted(sql, of) : isPending(sql, of, at)}`
  return count === 1
}

/** Withdraws an intent. Returns its status when it is not pending any more, and undefined when this owner has no such intent. */
export async function withdrawIntent(
  sql: Queryable,
  owner: Buffer,
  intentId: string,
  at: Date,
): Promise<'done' | Pick<IntentRow, 'status' | 'expires_at'> | undefined> {
  const { count } = await sql`
    UPDATE market.intents SET status = 'withdrawn', closed_at = ${at}
    WHERE intent_id = ${intentId} AND owner = ${owner} AND status = 'pending' AND expires_at > ${at}`
  if (count === 1) return 'done'
  const [row] = await sql<Pick<IntentRow, 'status' | 'expires_at'>[]>`
    SELECT status, expires_at FROM market.intents WHERE intent_id = ${intentId} AND owner = ${owner}`
  return row
}

/** Deletes old intents; those that expired or were withdrawn go sooner than executed and skipped ones. */
export const sweepIntents: Schedule = {
  name: 'sweep-intents',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`DELETE FROM market.intents WHERE expires_at < now() - INTERVAL '90 days'`
    await sql`DELETE FROM market.intents WHERE expires_at < now() - INTERVAL '30 days' AND status = 'pending'`
    await sql`DELETE FROM market.intents WHERE status = 'withdrawn' AND closed_at < now() - INTERVAL '7 days'`
  },
}
