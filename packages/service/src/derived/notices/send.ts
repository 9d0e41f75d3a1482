// A message is sent in three steps, each committed by itself: a worker claims the notice, writes that the message is on its way, and after
// the messenger's answer writes what became of it. A crash between the last two leaves it open whether the message was sent.
import { createHash } from 'node:crypto'
import type { Transaction } from '@referrer/database'
import type { Channel, Delivery, Message } from '../../kit/channel.ts'
import type { Context } from '../../kit/context.ts'
import { backoffMs } from '../../machinery/workers/backoff.ts'
import { bury } from '../../market/dead-letters/store.ts'
import { markBlocked } from '../../market/messenger/store.ts'
import {
  DAY_MS,
  done,
  later,
  nextNotice,
  type Progress,
  type Purchase,
  sending,
  tryAgain,
  unsure,
} from './due.ts'
import { countNotices, type Outcome } from './figures.ts'
import { type Addressed, type Claimed, claimDue, findAddressed, readClaimed, writeProgress } from './store.ts'
import { messageOf } from './texts.ts'

export const BATCH_SIZE = 8
/** Longer than a channel takes for a message. */
export const LEASE_MS = 60_000
const BACKOFF = { firstMs: 5_000, maxMs: 900_000 }
/** Upper limit for the time that a messenger asks us to wait. */
const LONGEST_PAUSE_MS = DAY_MS

/** Until when this process sends nothing through a channel, because its messenger asked for a pause. */
export type Pauses = Map<string, number>

/** Sends the messages of one batch of due notices. Returns how many it claimed. */
export async function sendDue(context: Context, pauses: Pauses): Promise<number> {
  const now = new Date(context.clock())
  const claimed = await claimDue(context.sql, {
    chainIds: [...context.chains.keys()],
    now,
    leaseMs: LEASE_MS,
    limit: BATCH_SIZE,
  })
  const results = await Promise.allSettled(claimed.map((one) => send(context, one, pauses)))
  const failed = results.find(({ status }) => status === 'rejected')
  if (failed) throw (failed as PromiseRejectedResult).reason
  return claimed.length
}

interface Prepared {
  channel: Channel
  addressed: Addressed
  message: Message
  key: string
}

async function send(context: Context, claimed: Claimed, pauses: Pauses): Promise<void> {
  const prepared = await context.sql.begin((tx) => prepare(context, tx, claimed, pauses))
  if (!prepared) return
  const { channel, addressed, message, key } = prepared
  const delivery = await channel.send(addressed.chat, message, key)
  // A messenger that does not answer holds up a batch once, and then not those of the others. By our own clock, because chains share the
  // channel and their clocks differ.
  if (delivery.state === 'retry' || delivery.state === 'unsure') {
    const afterMs = (delivery.state === 'retry' && delivery.afterMs) || BACKOFF.firstMs
    pauses.set(channel.name, context.clock() + pauseMs(afterMs))
  }
  await context.sql.begin((tx) => record(context, tx, claimed, prepared, delivery))
}

/** Checks that the message is still due and writes that it is on its way. Undefined: nothing is to be sent now. */
async function prepare(
  context: Context,
  tx: Transaction,
  claimed: Claimed,
  pauses: Pauses,
): Promise<Prepared | undefined> {
  const now = nowOf(context, claimed)
  const found = await readClaimed(tx, claimed)
  if (!found) return undefined
  const { progress, purchase } = found
  const finish = (after: Progress) => settle(tx, claimed, purchase, after, now)
  const due = nextNotice(purchase, progress, now)
  if (!purchase || !due || due.at > now) return finish(progress)

  const addressed = await findAddressed(tx, claimed.chain_id, purchase, claimed)
  const channel = addressed && context.channels.get(addressed.channel)
  if (!addressed || !channel) {
    count(context, 'passed')
    return finish(done(progress, now))
  }
  const { sending_channel, sending_chat } = progress
  const isSameChat = sending_channel === addressed.channel && sending_chat === addressed.chat
  // Somebody crashed while this message was on its way.
  if (sending_channel !== null && !(isSameChat && channel.deduplicates)) {
    count(context, 'unsure')
    return finish(unsure(progress, purchase, now))
  }
  const pausedMs = (pauses.get(channel.name) ?? 0) - context.clock()
  if (pausedMs > 0) return finish({ ...progress, retry_at: later(now, pausedMs) })

  const onItsWay = sending(progress, due.kind, addressed)
  await writeProgress(tx, claimed, { progress: onItsWay, dueAt: due.at, keepsLease: true })
  const message = messageOf({ kind: due.kind, chainId: claimed.chain_id, purchase, addressed, now })
  return { channel, addressed, message, key: keyOf(claimed, progress) }
}

/** Writes what became of the message, unless the lease has ended and somebody else has taken over. */
async function record(
  context: Context,
  tx: Transaction,
  claimed: Claimed,
  { channel, addressed, message, key }: Prepared,
  delivery: Delivery,
): Promise<void> {
  const now = nowOf(context, claimed)
  const found = await readClaimed(tx, claimed)
  if (!found) return
  const { progress, purchase } = found
  const finish = (outcome: Outcome, after: Progress) => {
    count(context, outcome)
    return settle(tx, claimed, purchase, after, now)
  }
  const backoff = () => backoffMs(progress.attempts + 1, BACKOFF, Math.random)
  if (delivery.state !== 'sent' && delivery.state !== 'retry') {
    const { chain_id: chain } = claimed
    const escrow = String(found.notice?.escrow_id)
    context.log.warn({ chain, escrow, channel: channel.name, ...delivery }, 'a notice was not sent')
  }
  /** Lists the message for the operator, and goes on with the next date. */
  const giveUp = async (reason: string) => {
    const { chat } = addressed
    await bury(tx, { channel: channel.name, chat, key, text: message.text, reason, at: now })
    return finish('refused', done(progress, now))
  }
  const isLastTry = progress.attempts + 1 >= channel.mostAttempts
  switch (delivery.state) {
    case 'sent':
      return finish('sent', done(progress, now))
    case 'retry': {
      if (isLastTry) return giveUp(delivery.reason)
      const afterMs = delivery.afterMs === undefined ? backoff() : pauseMs(delivery.afterMs)
      return finish('retried', tryAgain(progress, later(now, afterMs)))
    }
    case 'blocked':
      await markBlocked(tx, addressed, now)
      return finish('blocked', done(progress, now))
    case 'refused':
      return giveUp(delivery.reason)
    case 'unsure': {
      if (!channel.deduplicates)
        return finish('unsure', purchase ? unsure(progress, purchase, now) : done(progress, now))
      if (isLastTry) return giveUp(delivery.reason)
      const { sending_channel, sending_chat } = progress
      return finish('unsure', { ...tryAgain(progress, later(now, backoff())), sending_channel, sending_chat })
    }
  }
}

/** Gives the notice back, with the moment of its next message. */
async function settle(
  tx: Transaction,
  claimed: Claimed,
  purchase: Purchase | undefined,
  progress: Progress,
  now: Date,
): Promise<undefined> {
  const dueAt = nextNotice(purchase, progress, now)?.at ?? null
  await writeProgress(tx, claimed, { progress, dueAt, keepsLease: false })
}

/** The present on the clock of the purchase's chain. */
const nowOf = ({ clock }: Pick<Context, 'clock'>, { ahead_ms }: Claimed) => new Date(clock() + ahead_ms)

/** The same for every try of a message, and for no other message. */
const keyOf = ({ chain_id, contract, payer, nonce }: Claimed, { sequence }: Progress): string =>
  createHash('sha256')
    .update([chain_id, ...[contract, payer, nonce].map((bytes) => bytes.toString('hex')), sequence].join('/'))
    .digest('hex')

const pauseMs = (afterMs: number) => Math.min(Math.max(afterMs, 0), LONGEST_PAUSE_MS)

function count(context: Context, outcome: Outcome): void {
  countNotices(context)[outcome] += 1
}
