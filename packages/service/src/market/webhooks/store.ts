import type { Queryable, Transaction } from '@referrer/database'
import type { Schedule } from '../../machinery/workers/schedule.ts'
import type { SecretState } from './secrets.ts'

export type WebhookRow = SecretState & {
  chain_id: bigint
  owner: Buffer
  url: string
  /** Null: all. */
  events: string[] | null
  description: string
  agent_id: bigint | null
  merchant_id: bigint | null
  created_at: Date
  disabled_at: Date | null
  disabled_reason: string | null
  failing_since: Date | null
}

const columns = (sql: Queryable) => sql`
  webhook_id, chain_id, owner, url, events, description, agent_id, merchant_id, secret_version, old_secret_until, created_at, disabled_at,
  disabled_reason, failing_since`

export type NewWebhook = Pick<
  WebhookRow,
  'webhook_id' | 'owner' | 'url' | 'events' | 'description' | 'agent_id' | 'merchant_id' | 'created_at'
> & { chain_id: number }

/** Why a new webhook is disabled: whoever makes it may not be the one whom the URL belongs to. */
const UNTESTED = 'not tested yet: give its secret to the endpoint, then POST /v1/webhooks/{id}/test'

/** A new webhook, disabled until a test succeeds. Returns undefined when the owner has `most` already. */
export async function insertWebhook(
  tx: Transaction,
  webhook: NewWebhook,
  most: number,
): Promise<WebhookRow | undefined> {
  // Webhooks of one owner are made one after the other, so that the limit is exact.
  await tx`SELECT pg_advisory_xact_lock(hashtextextended(${`webhooks/${webhook.owner.toString('hex')}`}, 0))`
  const { count } = await tx`SELECT FROM market.webhooks WHERE owner = ${webhook.owner} LIMIT ${most}`
  if (count >= most) return undefined
  const [row] = await tx<WebhookRow[]>`
    INSERT INTO market.webhooks ${tx({ ...webhook, disabled_at: webhook.created_at, disabled_reason: UNTESTED })}
    RETURNING ${columns(tx)}`
  return row
}

/** Counts a test that is about to be made. False: the webhook has had so many, and none of them has ever succeeded. */
export async function countTest(sql: Queryable, webhookId: string, most: number): Promise<boolean> {
  // The failures of one that sends are the sender's to count.
  const { count } = await sql`
    UPDATE market.webhooks SET failures = failures + CASE WHEN disabled_reason = ${UNTESTED} THEN 1 ELSE 0 END
    WHERE webhook_id = ${webhookId} AND (disabled_reason IS DISTINCT FROM ${UNTESTED} OR failures < ${most})`
  return count === 1
}

/** The webhooks of a wallet on all chains, oldest first; there are few. */
export const listWebhooks = (sql: Queryable, owner: Buffer): Promise<WebhookRow[]> =>
  sql<WebhookRow[]>`
    SELECT ${columns(sql)} FROM market.webhooks WHERE owner = ${owner} ORDER BY created_at, webhook_id`

export async function findWebhook(
  sql: Queryable,
  owner: Buffer,
  webhookId: string,
): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`
    SELECT ${columns(sql)} FROM market.webhooks WHERE webhook_id = ${webhookId} AND owner = ${owner}`
  return row
}

export async function deleteWebhook(sql: Queryable, owner: Buffer, webhookId: string): Promise<boolean> {
  const { count } = await sql`
    DELETE FROM market.webhooks WHERE webhook_id = ${webhookId} AND owner = ${owner}`
  return count === 1
}

/** The next secret; the one before signs until `oldUntil`, and those before it no more. */
export async function rotateSecret(
  sql: Queryable,
  owner: Buffer,
  webhookId: string,
  oldUntil: Date,
): Promise<WebhookRow | undefined> {
  const [row] = await sql<WebhookRow[]>`
    UPDATE market.webhooks SET secret_version = secret_version + 1, old_secret_until = ${oldUntil}
    WHERE webhook_id = ${webhookId} AND owner = ${owner} RETURNING ${columns(sql)}`
  return row
}

/** A message arrived: the webhook works, and what waits for it goes on at once. */
export async function enableWebhook(sql: Queryable, webhookId: string): Promise<void> {
  await sql`
    UPDATE market.webhooks AS w SET disabled_at = NULL, disabled_reason = NULL, failing_since = NULL, failures = 0,
      paused_until = NULL, due_at = ${nextOf(sql)}
    WHERE webhook_id = ${webhookId}`
}

/** When the first waiting message of a webhook `w` is to be tried. */
export const nextOf = (sql: Queryable) => sql`(
  SELECT next_at FROM market.webhook_deliveries AS d WHERE d.webhook_id = w.webhook_id AND d.next_at IS NOT NULL
  ORDER BY next_at LIMIT 1)`

const KEPT_DISABLED_DAYS = 90

/** Deletes webhooks that have been disabled for long. */
export const sweepWebhooks: Schedule = {
  name: 'sweep-webhooks',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`
      DELETE FROM market.webhooks WHERE disabled_at < now() - ${KEPT_DISABLED_DAYS} * INTERVAL '1 day'`
  },
}
