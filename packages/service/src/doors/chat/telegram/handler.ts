import { setTimeout as sleep } from 'node:timers/promises'
import { createTurns } from '@referrer/net'
import type { Channel, Delivery, Message } from '../../../kit/channel.ts'
import type { Context } from '../../../kit/context.ts'
import { backoffMs } from '../../../machinery/workers/backoff.ts'
import { clearBlocked, markBlocked } from '../../../market/messenger/store.ts'
import type { Answerer } from '../reception.ts'
import type { Caller } from './api.ts'
import { type Event, readUpdate } from './update.ts'

/** For each chat. Beyond it there is no answer, so that a stranger's flood costs no calls. */
const PER_CHAT = { perSecond: 1, burst: 10 }
/** A group that adds the bot again and again is left once a minute. */
const PER_GROUP = { perSecond: 1 / 60, burst: 1 }
const AT_ONCE = 50
/** An answer that cannot be sent for this long is given up; the person has asked again by then. */
const LONGEST_RETRY_MS = 10 * 60_000
const BACKOFF = { firstMs: 500, maxMs: 30_000 }

export interface HandlerOptions {
  context: Context
  channel: Channel
  call: Caller
  answer: Answerer
  /** Changes a message that was sent earlier, or sends a new one where that cannot be. */
  replace(chat: string, messageId: number, message: Message): Promise<Delivery>
}

/**
 * Handles an update: those of one chat in their order, those of different chats at once. Rejects when the update should be handled again
 * later: the database does not answer, or the signal has fired before the answer could be sent.
 */
export type Handler = (update: unknown, signal: AbortSignal) => Promise<void>

export function createHandler({ context, channel, call, answer, replace }: HandlerOptions): Handler {
  const { sql, log, clock, limits } = context
  const ofChat = limits.limiter('telegram chats', PER_CHAT)
  const ofGroup = limits.limiter('telegram groups', PER_GROUP)
  const inTurn = createLanes(AT_ONCE)
  const place = (chat: string) => ({ channel: channel.name, chat })

  async function act(event: Event, signal: AbortSignal): Promise<void> {
    switch (event.kind) {
      case 'joined':
        return leave(event.group)
      case 'blocked':
        return markBlocked(sql, place(event.chat), new Date(clock()))
      case 'unblocked':
        return clearBlocked(sql, place(event.chat))
      case 'message': {
        await clearBlocked(sql, place(event.chat))
        const message = await answer({ channel, chat: event.chat, text: event.text })
        if (message) await deliver(event.chat, () => channel.send(event.chat, message, ''), signal)
        return
      }
      case 'pressed': {
        // The app shows that it waits until the press is answered. An old press cannot be answered, which does not matter.
        const released = call((api, aborted) => api.answerCallbackQuery(event.queryId, {}, aborted), {
          signal,
        })
        await Promise.all([press(event, signal), released.catch(() => {})])
      }
    }
  }

  async function press(
    { chat, data, messageId }: Extract<Event, { kind: 'pressed' }>,
    signal: AbortSignal,
  ): Promise<void> {
    const message = await answer({ channel, chat, text: '', pressed: data })
    if (!message) return
    const show = () =>
      messageId === undefined || message.isApart
        ? channel.send(chat, message, '')
        : replace(chat, messageId, message)
    await deliver(chat, show, signal)
  }

  /** Tries again while the message is certainly not sent. */
  async function deliver(chat: string, send: () => Promise<Delivery>, signal: AbortSignal): Promise<void> {
    const giveUpAt = performance.now() + LONGEST_RETRY_MS
    for (let attempt = 1; ; attempt += 1) {
      const delivery = await send()
      if (delivery.state === 'sent') return
      if (delivery.state === 'blocked') return markBlocked(sql, place(chat), new Date(clock()))
      const pauseMs =
        delivery.state === 'retry' && (delivery.afterMs ?? backoffMs(attempt, BACKOFF, Math.random))
      if (pauseMs === false || performance.now() + pauseMs > giveUpAt) {
        log.warn({ channel: channel.name, reason: delivery.reason }, 'an answer was not sent')
        return
      }
      await sleep(pauseMs, undefined, { signal })
    }
  }

  /** The answers are for one person, and everybody in a group could read them. */
  async function leave(group: number): Promise<void> {
    if ((await ofGroup(String(group))) > 0) return
    await call((api, signal) => api.leaveChat(group, signal)).catch((err: unknown) =>
      log.warn({ err, group }, 'a group could not be left'),
    )
  }

  return async (update, signal) => {
    const event = readUpdate(update)
    if (!event) return
    if (event.kind === 'joined') return act(event, signal)
    const isAsked = event.kind === 'message' || event.kind === 'pressed'
    if (isAsked && (await ofChat(event.chat)) > 0) return
    await inTurn(event.chat, () => act(event, signal))
  }
}

/** What has one key is done in order; at most so much is done at once. */
function createLanes(most: number) {
  const turns = createTurns(most)
  const lanes = new Map<string, Promise<unknown>>()
  return async (key: string, work: () => Promise<void>): Promise<void> => {
    const before = lanes.get(key) ?? Promise.resolve()
    const done = before.then(() => turns(work))
    const settled = done.catch(() => {})
    lanes.set(key, settled)
    try {
      await done
    } finally {
      if (lanes.get(key) === settled) lanes.delete(key)
    }
  }
}
