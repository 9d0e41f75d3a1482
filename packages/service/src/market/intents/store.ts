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
  /** JSON. */
  payload: string
  status: IntentStatus
  /** What the agent's runner said of one that it executed. */
  result: string | null
  /** And of one that it skipped. */
  reason: string | null
  created_at: Date
  expires_at: Date
  closed_at: Date | null
}

/** Whose intents they are: after an agent has changed hands, those of the owner before are not the agent's any more. */
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

const isPending = (sql: Queryable, of: IntentsOf, now: Date) => sql`
  ${isUnclosed(sql, of)} AND expires_at > ${now}`

/** Undefined: so many are pending already. Those that come at the very same moment may become a few more. */
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

/** Oldest first. */
export function pendingIntents(
  sql: Queryable,
  of: IntentsOf,
  { now, limit }: { now: Date; limit: number },
): Promise<IntentRow[]> {
  return sql<IntentRow[]>`
    SELECT ${columns(sql)} FROM market.intents WHERE ${isPending(sql, of, now)}
    ORDER BY created_at, intent_id LIMIT ${limit}`
}

/** Whatever became of them, newest first. */
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

export interface Closing {
  status: 'executed' | 'skipped'
  /** Its result, or why it was skipped. */
  words: string
  at: Date
}

/**
 * False: it is not pending, or none of these. Of those who close it at the same moment the first one counts. What was executed is closed
 * even when its time is over: the owner must learn that it was paid, and not queue it again.
 */
export async function closeIntent(
  sql: Queryable,
  of: IntentsOf,
  intentId: string,
  { status, words, at }: Closing,
): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.intents SET status = ${status}, ${sql(status === 'executed' ? 'result' : 'reason')} = ${words}, closed_at = ${at}
    WHERE intent_id = ${intentId} AND ${status === 'executed' ? isUnclosed(sql, of) : isPending(sql, of, at)}`
  return count === 1
}

/** What it is if it cannot be withdrawn any more; undefined: this owner has no such intent. */
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

/** What ended long ago is nobody's history any more, and sooner what came to nothing. */
export const sweepIntents: Schedule = {
  name: 'sweep-intents',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`DELETE FROM market.intents WHERE expires_at < now() - INTERVAL '90 days'`
    await sql`DELETE FROM market.intents WHERE expires_at < now() - INTERVAL '30 days' AND status = 'pending'`
    await sql`DELETE FROM market.intents WHERE status = 'withdrawn' AND closed_at < now() - INTERVAL '7 days'`
  },
}
