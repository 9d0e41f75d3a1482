// What owners do with their webhooks.
import { randomBytes } from 'node:crypto'
import { isPlainlyPrivate, parseWebUrl } from '@referrer/net'
import { type Address, isAddressEqual } from 'viem'
import { type Chain, type Context, oncePerProcess } from '../../kit/context.ts'
import { time } from '../../kit/json-values.ts'
import { MarketError, RateLimited, unavailable } from '../../kit/market-error.ts'
import { ownerOf } from '../../kit/onchain.ts'
import { bytesOf } from '../../machinery/db/bytes.ts'
import type { Page } from '../../machinery/db/page.ts'
import { clientBytes, spendQuota } from '../quotas/store.ts'
import {
  type DeliveryRow,
  listDeliveries,
  type Replay,
  type Replayed,
  replayDeliveries,
} from './deliveries.ts'
import { type EventType, TEST_EVENT } from './events.ts'
import { type Attempt, post } from './post.ts'
import { secretOf } from './secrets.ts'
import * as store from './store.ts'

/** Of one wallet, on all chains together: an event is sent to each of them. */
export const MOST_OF_OWNER = 10
export const LONGEST_URL = 2_048
export const MOST_REPLAYED = 100
/** Of a webhook that has never answered one: its URL may be a stranger's. */
export const MOST_TESTS = 20
const OLD_SECRET_MS = 24 * 3_600_000
/** What a webhook counts for in the quota of its client, and how much that is on a day: 256 webhooks. */
const WEBHOOK_BYTES = 4_096
const BYTES_OF_CLIENT = 1_048_576
/** For each wallet, because every test and every replay makes us call somebody. */
const TESTS = { perSecond: 0.1, burst: 5 }
const REPLAYS = { perSecond: 1 / 60, burst: 5 }

const testsOf = oncePerProcess(({ limits }) => limits.limiter('webhook tests', TESTS))
const replaysOf = oncePerProcess(({ limits }) => limits.limiter('webhook replays', REPLAYS))

export interface Draft {
  url: string
  /** Undefined: all. */
  events: readonly EventType[] | undefined
  description: string
  agentId: bigint | undefined
  merchantId: bigint | undefined
}

type WithSecret = { webhook: store.WebhookRow; secret: string }

export async function createWebhook(
  context: Context,
  chain: Chain,
  caller: Address,
  { url, events, description, agentId, merchantId }: Draft,
  client: string,
): Promise<WithSecret> {
  requireUrl(context, url)
  if (agentId !== undefined && merchantId !== undefined)
    throw new MarketError('invalid input', 'agent_id or merchant_id, not both')
  if (agentId !== undefined) await requireOwn(chain, 'agent', agentId, caller)
  if (merchantId !== undefined) await requireOwn(chain, 'merchant', merchantId, caller)
  const now = context.clock()
  const webhook = await context.sql.begin(async (tx) => {
    const made = await store.insertWebhook(
      tx,
      {
        webhook_id: `wh_${randomBytes(16).toString('hex')}`,
        chain_id: chain.config.chainId,
        owner: bytesOf(caller),
        url,
        events: events ? [...new Set(events)] : null,
        description,
        agent_id: agentId ?? null,
        merchant_id: merchantId ?? null,
        created_at: new Date(now),
      },
      MOST_OF_OWNER,
    )
    if (!made)
      throw new MarketError('conflict', `this wallet has ${MOST_OF_OWNER} webhooks: delete one first`)
    await spendQuota(tx, now, {
      what: 'webhooks made by this client',
      who: clientBytes(client),
      bytes: WEBHOOK_BYTES,
      most: BYTES_OF_CLIENT,
    })
    return made
  })
  return withSecret(context, webhook)
}

export const listWebhooks = ({ sql }: Pick<Context, 'sql'>, caller: Address): Promise<store.WebhookRow[]> =>
  store.listWebhooks(sql, bytesOf(caller))

export async function deleteWebhook({ sql }: Pick<Context, 'sql'>, caller: Address, id: string) {
  if (!(await store.deleteWebhook(sql, bytesOf(caller), id))) throw notFound()
}

/** A new secret. The one before signs, too, for a day, so that the receiver can change it without losing a message. */
export async function rotateSecret(context: Context, caller: Address, id: string): Promise<WithSecret> {
  const oldUntil = new Date(context.clock() + OLD_SECRET_MS)
  const webhook = await store.rotateSecret(context.sql, bytesOf(caller), id, oldUntil)
  if (!webhook) throw notFound()
  return withSecret(context, webhook)
}

/** Sends a test message at once. One that is delivered enables the webhook. */
export async function testWebhook(context: Context, caller: Address, id: string): Promise<Attempt> {
  const webhook = await requireWebhook(context, caller, id)
  await requireRate(testsOf(context), caller, 'tests of webhooks: one in 10 seconds for each wallet')
  if (!(await store.countTest(context.sql, id, MOST_TESTS)))
    throw new MarketError('conflict', `${MOST_TESTS} tests failed: delete the webhook and make a new one`)
  const body = JSON.stringify({
    type: TEST_EVENT,
    timestamp: time(new Date()),
    data: { webhook_id: id, chain_id: Number(webhook.chain_id) },
  })
  const attempt = await post(context, webhook, { id: `msg_${randomBytes(16).toString('hex')}`, body })
  if (attempt.isDelivered) await store.enableWebhook(context.sql, id)
  return attempt
}

export async function deliveriesOf(
  context: Context,
  caller: Address,
  id: string,
  page: Page,
): Promise<DeliveryRow[]> {
  await requireWebhook(context, caller, id)
  return listDeliveries(context.sql, id, page)
}

/** Sends messages again, with the ids that they had: one, or the first ones since a moment or behind another one. */
export async function replay(
  context: Context,
  caller: Address,
  id: string,
  which: Replayed,
): Promise<Replay> {
  const { disabled_at } = await requireWebhook(context, caller, id)
  if (disabled_at)
    throw new MarketError('conflict', 'the webhook is disabled: a test that succeeds enables it')
  await requireRate(replaysOf(context), caller, 'replays: one in a minute for each wallet')
  const now = new Date(context.clock())
  const made = await context.sql.begin((tx) => replayDeliveries(tx, id, which, { most: MOST_REPLAYED, now }))
  if (!made)
    throw new MarketError('conflict', 'no such delivery, or it waits already, or its text is no longer kept')
  return made
}

const withSecret = ({ config }: Pick<Context, 'config'>, webhook: store.WebhookRow): WithSecret => {
  const [key] = config.webhookKeys
  if (!key) throw notFound()
  return { webhook, secret: secretOf(key, webhook) }
}

async function requireWebhook(
  { sql }: Pick<Context, 'sql'>,
  caller: Address,
  id: string,
): Promise<store.WebhookRow> {
  const webhook = await store.findWebhook(sql, bytesOf(caller), id)
  if (!webhook) throw notFound()
  return webhook
}

/** Only https, because messages tell who buys what. The sandbox has no certificates. */
function requireUrl({ config: { allowPrivateHosts } }: Pick<Context, 'config'>, text: string): void {
  const url = text.length <= LONGEST_URL ? parseWebUrl(text) : undefined
  const isSecure = url?.protocol === 'https:' || allowPrivateHosts
  if (!url || !isSecure || isPlainlyPrivate(url, allowPrivateHosts))
    throw new MarketError(
      'invalid input',
      `url must be an https address of at most ${LONGEST_URL} characters on a public host`,
    )
}

async function requireOwn(chain: Chain, what: 'agent' | 'merchant', id: bigint, caller: Address) {
  const owner = await ownerOf(chain, id).catch((error: unknown) => {
    throw unavailable(`${what} ${id}: resolve owner on-chain`, error)
  })
  if (!owner) throw new MarketError('not found', `${what} not found on-chain`)
  if (!isAddressEqual(owner, caller))
    throw new MarketError('unauthorized', `caller does not own this ${what}`)
}

async function requireRate(limiter: ReturnType<typeof testsOf>, caller: Address, detail: string) {
  const seconds = await limiter(caller.toLowerCase())
  if (seconds > 0) throw new RateLimited(detail, Math.ceil(seconds))
}

const notFound = () => new MarketError('not found', 'not found')
