import { randomUUID } from 'node:crypto'
import type { Queryable, Sql, Transaction } from '@referrer/database'
import type { Context } from '../../kit/context.ts'
import type { Page } from '../../machinery/db/page.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import type { Attempt } from './post.ts'
import type { SecretState } from './secrets.ts'
import { nextOf } from './store.ts'

export type DeliveryRow = {
  delivery_id: string
  type: string
  created_at: Date
  /** Null: delivered or given up. */
  next_at: Date | null
  attempts: number
  tried_at: Date | null
  status_code: number | null
  answer: string | null
  delivered_at: Date | null
  can_replay: boolean
}

/** The messages to a webhook, newest first. */
export const listDeliveries = (
  sql: Queryable,
  webhookId: string,
  { limit, offset }: Page,
): Promise<DeliveryRow[]> =>
  sql<DeliveryRow[]>`
    SELECT delivery_id, type, created_at, next_at, attempts, tried_at, status_code, answer, delivered_at, body IS NOT NULL AS can_replay
    FROM market.webhook_deliveries WHERE webhook_id = ${webhookId}
    ORDER BY created_at DESC, sequence DESC LIMIT ${limit} OFFSET ${offset}`

/** Which messages are sent again: one, those since a moment, or those behind one. */
export type Replayed = { deliveryId: string } | { since: Date } | { after: string }

export interface Replay {
  count: number
  /** The last one, when there may be more behind it. */
  nextAfter: string | null
}

/** Lets messages that do not wait be sent again, with their old ids. Undefined: the one that is named is not there, or does not qualify. */
export async function replayDeliveries(
  tx: Transaction,
  webhookId: string,
  which: Replayed,
  { most, now }: { most: number; now: Date },
): Promise<Replay | undefined> {
  const canReplay = tx`webhook_id = ${webhookId} AND next_at IS NULL AND body IS NOT NULL`
  const chosen = await choose()
  if (!chosen) return undefined
  const { count } = await tx`
    UPDATE market.webhook_deliveries SET next_at = ${now}, attempts = 0
    WHERE ${canReplay} AND delivery_id = ANY(${chosen}::text[])`
  if (count > 0) await wake(tx, [webhookId], now)
  else if ('deliveryId' in which) return undefined
  return { count, nextAfter: chosen.length === most ? (chosen.at(-1) ?? null) : null }

  async function choose(): Promise<string[] | undefined> {
    if ('deliveryId' in which) return [which.deliveryId]
    const [from] =
      'since' in which
        ? [{ created_at: which.since.toISOString(), sequence: 0n }]
        : // As text, because a Date has no microseconds.
          await tx<{ created_at: string; sequence: bigint }[]>`
            SELECT created_at::text AS created_at, sequence FROM market.webhook_deliveries
            WHERE webhook_id = ${webhookId} AND delivery_id = ${which.after}`
    if (!from) return undefined
    const rows = await tx<{ delivery_id: string }[]>`
      SELECT delivery_id FROM market.webhook_deliveries
      WHERE ${canReplay} AND (created_at, sequence) > (${from.created_at}::text::timestamptz, ${from.sequence}::bigint)
      ORDER BY created_at, sequence LIMIT ${most}`
    return rows.map(({ delivery_id }) => delivery_id)
  }
}

/** More messages may not wait for one webhook. */
export const MOST_WAITING = 10_000

export interface NewDelivery {
  webhookId: string
  deliveryId: string
  type: string
  body: string
}

/** Stores messages in this order, except those that were stored before. */
export async function insertDeliveries(
  tx: Transaction,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<void> {
  if (deliveries.length === 0) return
  const rows = await tx<{ webhook_id: string }[]>`
    INSERT INTO market.webhook_deliveries (webhook_id, delivery_id, type, body, created_at, next_at)
    SELECT webhook_id, delivery_id, type, body, ${now}::timestamptz, ${now}::timestamptz FROM unnest(
      ${deliveries.map(({ webhookId }) => webhookId)}::text[], ${deliveries.map(({ deliveryId }) => deliveryId)}::text[],
      ${deliveries.map(({ type }) => type)}::text[], ${deliveries.map(({ body }) => body)}::text[]
    ) WITH ORDINALITY AS d (webhook_id, delivery_id, type, body, position)
    -- One that its owner has deleted meanwhile gets nothing more; KEY SHARE keeps him from doing it now.
    WHERE webhook_id IN (SELECT webhook_id FROM market.webhooks
      WHERE webhook_id = ANY(${deliveries.map(({ webhookId }) => webhookId)}::text[]) FOR KEY SHARE)
    ORDER BY position
    ON CONFLICT (webhook_id, delivery_id) DO NOTHING
    RETURNING webhook_id`
  const touched = [...new Set(rows.map(({ webhook_id }) => webhook_id))]
  if (touched.length > 0) await wake(tx, touched, now)
}

/** Lets the worker look at webhooks. One for which too many messages wait is disabled, so that nobody's queue grows without end. */
async function wake(tx: Transaction, webhookIds: readonly string[], now: Date): Promise<void> {
  await tx`
    UPDATE market.webhooks AS w SET due_at = greatest(least(due_at, ${now}::timestamptz), paused_until),
      disabled_at = CASE WHEN waiting.count > ${MOST_WAITING} THEN coalesce(w.disabled_at, ${now}::timestamptz) ELSE w.disabled_at END,
      disabled_reason = CASE WHEN waiting.count > ${MOST_WAITING} THEN coalesce(w.disabled_reason, ${`more than ${MOST_WAITING} messages waited`})
        ELSE w.disabled_reason END
    FROM unnest(${[...webhookIds]}::text[]) AS touched (webhook_id), LATERAL (
      SELECT count(*) FROM (
        SELECT FROM market.webhook_deliveries AS d WHERE d.webhook_id = touched.webhook_id AND d.next_at IS NOT NULL
        LIMIT ${MOST_WAITING + 1}) AS first) AS waiting
    WHERE w.webhook_id = touched.webhook_id`
}

/** A webhook that a worker has claimed. */
export type Claimed = SecretState & {
  url: string
  lease_token: string
  failing_since: Date | null
  failures: number
}

/** Claims webhooks with messages to send, the longest due first. Nobody else gets them before the lease ends. */
export function claimDue(
  sql: Queryable,
  { now, leaseMs, limit }: { now: Date; leaseMs: number; limit: number },
): Promise<Claimed[]> {
  return sql<Claimed[]>`
    UPDATE market.webhooks AS w
    SET lease_token = ${randomUUID()}, lease_until = ${new Date(now.getTime() + leaseMs)}::timestamptz
    FROM (
      SELECT webhook_id FROM market.webhooks
      WHERE due_at <= ${now} AND disabled_at IS NULL AND (lease_until IS NULL OR lease_until <= ${now})
      ORDER BY due_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED) AS due
    WHERE w.webhook_id = due.webhook_id
    RETURNING w.webhook_id, w.secret_version, w.old_secret_until, w.url, w.lease_token, w.failing_since, w.failures`
}

export type ToSend = { delivery_id: string; body: string; attempts: number }

/** The messages that are to be tried now, in the order in which they were made as far as none of them failed. */
export const dueDeliveries = (
  sql: Queryable,
  webhookId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<ToSend[]> =>
  sql<ToSend[]>`
    SELECT delivery_id, coalesce(body, '') AS body, attempts FROM market.webhook_deliveries
    WHERE webhook_id = ${webhookId} AND next_at <= ${now} ORDER BY next_at, sequence LIMIT ${limit}`

/** Writes what an attempt came to. False: the lease has ended, or the webhook was deleted, and it is not ours any more. */
export async function recordAttempt(
  sql: Queryable,
  { webhook_id, lease_token }: Pick<Claimed, 'webhook_id' | 'lease_token'>,
  deliveryId: string,
  { isDelivered, statusCode, answer }: Attempt,
  { now, nextAt }: { now: Date; nextAt: Date | null },
): Promise<boolean> {
  const { count } = await sql`
    UPDATE market.webhook_deliveries SET next_at = ${nextAt}, attempts = attempts + 1, tried_at = ${now}, status_code = ${statusCode},
      answer = ${answer}, delivered_at = CASE WHEN ${isDelivered} THEN ${now}::timestamptz ELSE delivered_at END
    WHERE webhook_id = ${webhook_id} AND delivery_id = ${deliveryId}
      AND EXISTS (SELECT FROM market.webhooks WHERE webhook_id = ${webhook_id} AND lease_token = ${lease_token})`
  return count === 1
}

/** How the last attempt of a claim leaves its webhook. */
export interface Standing {
  failures: number
  failingSince: Date | null
  /** Nothing is sent before. */
  pausedUntil: Date | null
  /** Not null: why nothing is sent any more. */
  disabledReason: string | null
}

/** Gives a webhook back. What still waits for it is due behind what others wait for. */
export async function release(
  sql: Sql,
  { webhook_id, lease_token }: Pick<Claimed, 'webhook_id' | 'lease_token'>,
  { failures, failingSince, pausedUntil, disabledReason }: Standing,
  now: Date,
): Promise<void> {
  await sql.begin(async (tx) => {
    // A statement of its own: the next one then sees every message whose maker was before us in line for the row.
    await tx`SELECT FROM market.webhooks WHERE webhook_id = ${webhook_id} FOR NO KEY UPDATE`
    await tx`
      UPDATE market.webhooks AS w SET lease_token = NULL, lease_until = NULL, failures = ${failures}, failing_since = ${failingSince},
        paused_until = ${pausedUntil}, due_at = CASE WHEN ${nextOf(tx)} IS NOT NULL THEN greatest(${nextOf(tx)}, ${pausedUntil}, ${now}::timestamptz) END
        ${disabledReason === null ? tx`` : tx`, disabled_at = ${now}, disabled_reason = ${disabledReason}`}
      WHERE webhook_id = ${webhook_id} AND lease_token = ${lease_token}`
  })
}

/** Gives webhooks back to which nothing was sent, until then. */
export async function putOff(
  sql: Queryable,
  webhooks: readonly Pick<Claimed, 'webhook_id' | 'lease_token'>[],
  until: Date,
): Promise<void> {
  await sql`
    UPDATE market.webhooks AS w SET lease_token = NULL, lease_until = NULL, paused_until = ${until}, due_at = ${until}
    FROM unnest(${webhooks.map(({ webhook_id }) => webhook_id)}::text[], ${webhooks.map(({ lease_token }) => lease_token)}::uuid[])
      AS given (webhook_id, lease_token)
    WHERE w.webhook_id = given.webhook_id AND w.lease_token = given.lease_token`
}

/** Since when the longest due webhook waits for a worker; undefined: none does. */
export async function oldestDue(sql: Queryable, now: Date): Promise<Date | undefined> {
  const [row] = await sql<{ due_at: Date }[]>`
    SELECT due_at FROM market.webhooks WHERE due_at <= ${now} AND disabled_at IS NULL ORDER BY due_at LIMIT 1`
  return row?.due_at
}

/** Messages and the knowledge that they were sent are kept this long. */
export const KEPT_DAYS = 30
/** Of so many messages of a webhook the text is kept. */
const KEPT_TEXTS = 10_000
const SWEPT_AT_ONCE = 1_000

/** Deletes old messages, and the texts of webhooks that have very many. */
export const sweepDeliveries = ({ clock }: Pick<Context, 'clock'>): Schedule => ({
  name: 'sweep-webhook-deliveries',
  everySeconds: 3_600,
  async run({ signal, sql }) {
    const before = new Date(clock() - KEPT_DAYS * 86_400_000)
    let count = SWEPT_AT_ONCE
    while (count === SWEPT_AT_ONCE && !signal.aborted) {
      ;({ count } = await sql`
        DELETE FROM market.webhook_deliveries WHERE ctid = ANY(ARRAY(
          SELECT ctid FROM market.webhook_deliveries WHERE created_at < ${before} ORDER BY created_at LIMIT ${SWEPT_AT_ONCE}))`)
    }
    await dropTexts(sql, KEPT_TEXTS)
  },
})

/** Forgets the texts of all but the newest messages of each webhook. What still waits keeps its text. */
export async function dropTexts(sql: Queryable, kept: number): Promise<void> {
  await sql`
    UPDATE market.webhook_deliveries AS d SET body = NULL
    FROM market.webhooks AS w, LATERAL (
      SELECT created_at, sequence FROM market.webhook_deliveries AS n WHERE n.webhook_id = w.webhook_id
      ORDER BY created_at DESC, sequence DESC OFFSET ${kept} LIMIT 1) AS last
    WHERE d.webhook_id = w.webhook_id AND (d.created_at, d.sequence) <= (last.created_at, last.sequence)
      AND d.body IS NOT NULL AND d.next_at IS NULL`
}
