// Makes messages of changes, once the chain has confirmed them. A message is never taken back: a change that a deeper reorganisation undoes
// and brings again is the same event, and is not announced twice.
import { createHash } from 'node:crypto'
import type { Transaction } from '@referrer/database'
import type { Chain, Context } from '../../kit/context.ts'
import { time } from '../../kit/json-values.ts'
import { insertDeliveries, KEPT_DAYS, type NewDelivery } from '../../market/webhooks/deliveries.ts'
import { type Event, eventOfVote, eventsOfPurchase, eventsOfReview, type Party } from './events.ts'
import {
  deleteQueued,
  hasQueued,
  type Listening,
  lockAnnouncing,
  type QueuedChange,
  readPurchases,
  readQueued,
  readReviews,
  readVotes,
  webhooksOf,
} from './store.ts'

const BATCH_SIZE = 200
/** An older event is not announced: whether it was announced before may be forgotten. */
const MOST_AGE_MS = (KEPT_DAYS - 1) * 86_400_000
/** A webhook hears of what happened after it was made. The time of a block can be a little earlier than that of its arrival. */
const SLACK_MS = 60_000
/** A vote on a purchase that the chain has dropped waits so long for it to come back. */
const MISSING_MS = 3_600_000

type AnnouncingContext = Pick<Context, 'sql' | 'clock' | 'recovery'>

/**
 * Announces what is confirmed of the next batch behind a change. Returns the last change of the batch, because those behind it may be
 * confirmed although this one waits. Undefined: there are none behind it, or another replica announces.
 */
export async function announce(
  context: AnnouncingContext,
  chain: Chain,
  after = 0n,
): Promise<bigint | undefined> {
  const { chainId } = chain.config
  if (!(await hasQueued(context.sql, chainId))) return undefined
  return context.sql.begin(async (tx) => {
    if (!(await lockAnnouncing(tx, chainId))) return undefined
    const changes = await readQueued(tx, chainId, { after, limit: BATCH_SIZE })
    const now = new Date(context.clock())
    const { events, done } = await readEvents(context, tx, chain, changes, now)
    const owners = new Map(
      events.flatMap(({ parties }) => parties).map(({ owner }) => [owner.toString('hex'), owner]),
    )
    const webhooks = await webhooksOf(tx, chainId, [...owners.values()])
    await insertDeliveries(tx, deliveriesOf(events, webhooks, now), now)
    await deleteQueued(tx, done)
    return changes.length === BATCH_SIZE ? changes.at(-1)?.id : undefined
  })
}

/** The events of confirmed changes in the order of the changes, and the changes that need no further look. */
async function readEvents(
  context: AnnouncingContext,
  tx: Transaction,
  { config: { chainId, confirmations } }: Chain,
  changes: readonly QueuedChange[],
  now: Date,
): Promise<{ events: Event[]; done: bigint[] }> {
  const depth = { chainId, confirmations }
  const purchases = await readPurchases(tx, depth, changes)
  const reviews = await readReviews(tx, depth, changes)
  const votes = await readVotes(tx, depth, changes)
  const found = [
    ...purchases.map((row) => ({ ...row, events: eventsOfPurchase(context, chainId, row) })),
    ...reviews.map((row) => ({ ...row, events: eventsOfReview(chainId, row) })),
    ...votes.map((row) => ({ ...row, events: [eventOfVote(chainId, row)] })),
  ]
  const present = new Set(found.map(({ id }) => id))
  const waiting = new Set(found.filter(({ is_confirmed }) => !is_confirmed).map(({ id }) => id))
  // Purchases and reviews that come back are announced as changes again; votes are not.
  for (const { id, what, queued_at } of changes)
    if (what === 'ballot' && !present.has(id) && now.getTime() - queued_at.getTime() < MISSING_MS)
      waiting.add(id)
  return {
    events: found
      .filter(({ id }) => !waiting.has(id))
      .toSorted((a, b) => Number(a.id - b.id))
      .flatMap(({ events }) => events),
    done: changes.map(({ id }) => id).filter((id) => !waiting.has(id)),
  }
}

function deliveriesOf(events: readonly Event[], webhooks: readonly Listening[], now: Date): NewDelivery[] {
  const byOwner = Map.groupBy(webhooks, ({ owner }) => owner.toString('hex'))
  return events
    .filter(({ at }) => now.getTime() - at.getTime() < MOST_AGE_MS)
    .flatMap((event) => {
      const owners = new Set(event.parties.map(({ owner }) => owner.toString('hex')))
      return [...owners].flatMap((owner) =>
        (byOwner.get(owner) ?? []).flatMap((webhook) => deliveryOf(event, webhook) ?? []),
      )
    })
}

/** Undefined: the webhook does not want to hear of it. */
function deliveryOf(event: Event, webhook: Listening): NewDelivery | undefined {
  const { type, key, at, data, parties } = event
  if (webhook.events && !webhook.events.includes(type)) return undefined
  if (at.getTime() < webhook.created_at.getTime() - SLACK_MS) return undefined
  const roles = parties.filter((one) => isWanted(one, webhook)).map(({ role }) => role)
  if (roles.length === 0) return undefined
  const { webhook_id: webhookId } = webhook
  const hash = createHash('sha256').update(`${webhookId}/${type}/${key}`).digest('hex')
  return {
    webhookId,
    deliveryId: `msg_${hash.slice(0, 32)}`,
    type,
    body: JSON.stringify({ type, timestamp: time(at), data: { ...data, roles } }),
  }
}

function isWanted({ role, id, owner }: Party, webhook: Listening): boolean {
  if (!owner.equals(webhook.owner)) return false
  if (webhook.merchant_id !== null) return role === 'merchant' && id === webhook.merchant_id
  return webhook.agent_id === null || (role !== 'merchant' && id === webhook.agent_id)
}
