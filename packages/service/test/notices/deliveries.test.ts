import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countNotices } from '../../src/derived/notices/figures.ts'
import { snooze } from '../../src/derived/notices/operations.ts'
import { BATCH_SIZE, type Pauses, sendDue } from '../../src/derived/notices/send.ts'
import { noticesWorker } from '../../src/derived/notices/worker.ts'
import { runAlone, until } from '../../src/machinery/workers/testing.ts'
import { clearBlocked } from '../../src/market/messenger/store.ts'
import { buyThrough, quiet } from '../http/town.ts'
import { startReplica } from '../oracle/world.ts'
import {
  goTo,
  linkChat,
  newLinked,
  PING,
  REMINDER,
  sendAll,
  startTestWorld,
  type TestChannel,
  toldTo,
  type World,
} from './world.ts'

let world: World<TestChannel>

beforeAll(async () => {
  world = await startTestWorld()
})
afterAll(() => world.m.close())

const told = (chat: string, channel = world.plain) => toldTo(channel, chat)
const MINUTE_DAYS = 1 / 1_440

/** A linked buyer whose purchase was confirmed, and the deposit. */
async function confirmed(channel: 'plain' | 'keyed' = 'plain') {
  const buyer = await newLinked(world, channel)
  const deposit = await buyThrough(world.m, buyer, world.link)
  await sendAll(world)
  return { buyer, deposit, chat: buyer.chat }
}

describe('a message that was certainly not sent', () => {
  it('is tried again until it is, later each time, with the same key', async () => {
    const { deposit, chat } = await confirmed()
    const away = { state: 'retry', reason: 'away' } as const
    world.plain.answer(chat, away, away, away)
    await goTo(world, deposit, 3.01)
    const dueAt = async () => {
      const [row] = await world.m.sql<{ due_at: Date }[]>`
        SELECT due_at FROM market.notices WHERE escrow_id = ${deposit.escrowId}`
      return row?.due_at.getTime() ?? 0
    }
    const waits: number[] = []
    for (let tries = 0; tries < 3; tries += 1) {
      const wait = await world.m.atOnce(async () => {
        await sendAll(world)
        return (await dueAt()) - world.context.clock()
      })
      waits.push(wait)
      world.m.clock.aheadMs += wait + 1_000
    }
    expect(waits[0]).toBeGreaterThan(1_000)
    expect(waits[2]).toBeGreaterThan(waits[0] ?? 0)
    expect(told(chat)).toEqual([PING])
    await sendAll(world)
    await sendAll(world)
    expect(told(chat)).toEqual([PING, REMINDER])
    const keys = world.plain.tried.filter((one) => one.chat === chat).map(({ key }) => key)
    expect(keys).toHaveLength(5)
    expect(new Set(keys.slice(1)).size).toBe(1)
    expect(keys[0]).not.toBe(keys[1])
  })

  it('waits as long as the messenger asks, and so does every message of that messenger', async () => {
    const first = await confirmed()
    const second = await confirmed()
    const other = await confirmed('keyed')
    await goTo(world, first.deposit, 3.1)
    world.plain.answer(first.chat, { state: 'retry', reason: '429', afterMs: 600_000 })
    const pauses: Pauses = new Map()
    await sendAll(world, pauses)
    // A message of the second chat in the same batch may have left before the answer to the first.
    const third = await confirmed()
    await goTo(world, first.deposit, 3.1 + 5 * MINUTE_DAYS)
    await sendAll(world, pauses)
    expect([told(first.chat), told(other.chat, world.keyed)]).toEqual([[PING], [PING, REMINDER]])
    expect(told(third.chat)).toEqual([PING])
    await goTo(world, first.deposit, 3.2)
    await sendAll(world, pauses)
    for (const { chat } of [first, second, third]) expect(told(chat)).toEqual([PING, REMINDER])
  })

  it('is not sent during a pause by this process', async () => {
    const { deposit, chat } = await confirmed()
    await goTo(world, deposit, 3.01)
    const pauses: Pauses = new Map([['plain', world.context.clock() + 60_000]])
    await sendAll(world, pauses)
    expect(told(chat)).toEqual([PING])
    await goTo(world, deposit, 3.01 + 2 * MINUTE_DAYS)
    await sendAll(world, pauses)
    expect(told(chat)).toEqual([PING, REMINDER])
  })
})

describe('a chat whose user has blocked the bot', () => {
  it('gets nothing more until its user writes again', async () => {
    const { deposit, chat } = await confirmed()
    world.plain.answer(chat, { state: 'blocked', reason: 'bot was blocked by the user' })
    for (const days of [3.01, 14.01]) {
      await goTo(world, deposit, days)
      await sendAll(world)
    }
    expect(told(chat)).toEqual([PING])
    const [link] = await world.m.sql`SELECT blocked_at FROM market.chat_links WHERE chat = ${chat}`
    expect(link?.blocked_at).toBeInstanceOf(Date)
    await clearBlocked(world.m.sql, { channel: 'plain', chat })
    await goTo(world, deposit, 30.01)
    await sendAll(world)
    expect(told(chat)).toEqual([PING, REMINDER])
  })
})

/** What the operator sees of the messages that were given up. */
const given = async (chat: string) =>
  (await world.m.sql`SELECT channel, text, reason FROM market.dead_letters WHERE chat = ${chat}`).map(
    ({ channel, text, reason }) => [channel, text.split(':')[0], reason],
  )

describe('a message that is given up', () => {
  it('because the messenger refuses it is listed, and the next one comes on its date', async () => {
    const { deposit, chat } = await confirmed()
    world.plain.answer(chat, { state: 'refused', reason: 'text is too long' })
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    await goTo(world, deposit, 13)
    await sendAll(world)
    expect(told(chat)).toEqual([PING])
    expect(await given(chat)).toEqual([['plain', 'Not reviewed yet', 'text is too long']])
    await goTo(world, deposit, 14.01)
    await sendAll(world)
    expect(told(chat)).toEqual([PING, REMINDER])
  })

  it('after the last attempt that its messenger allows is listed once', async () => {
    const { deposit, chat } = await confirmed('keyed')
    world.keyed.mostAttempts = 3
    const unsure = { state: 'unsure', reason: 'no answer' } as const
    const retry = { state: 'retry', reason: 'status 503' } as const
    world.keyed.answer(chat, retry, unsure, retry)
    await goTo(world, deposit, 3.01)
    const lists: unknown[] = []
    for (let tries = 0; tries < 4; tries += 1) {
      await sendAll(world)
      lists.push(await given(chat))
      world.m.clock.aheadMs += 900_000
    }
    world.keyed.mostAttempts = Number.POSITIVE_INFINITY
    const listed = [['keyed', 'Not reviewed yet', 'status 503']]
    expect(lists).toEqual([[], [], listed, listed])
    expect(world.keyed.tried.filter((one) => one.chat === chat)).toHaveLength(4)
  })
})

describe('a message that may have been sent', () => {
  const unsure = { state: 'unsure', reason: 'connection reset' } as const

  it('is sent again with the same key when the messenger drops repetitions', async () => {
    const { deposit, chat } = await confirmed('keyed')
    world.keyed.answer(chat, unsure, unsure)
    await goTo(world, deposit, 3.01)
    for (let tries = 0; tries < 4; tries += 1) {
      await sendAll(world)
      world.m.clock.aheadMs += 60_000
    }
    const keys = world.keyed.arrived.filter((one) => one.chat === chat).map(({ key }) => key)
    expect(told(chat, world.keyed)).toEqual([PING, REMINDER, REMINDER, REMINDER])
    expect(new Set(keys).size).toBe(2)
  })

  it('is never sent again otherwise; the next reminder comes a day later, and only one such', async () => {
    const { deposit, chat } = await confirmed()
    world.plain.answer(chat, unsure, unsure)
    const counts: number[] = []
    for (const days of [3.01, 3.9, 4.02, 5.1, 13.9, 14.1]) {
      await goTo(world, deposit, days)
      await sendAll(world)
      counts.push(told(chat).length - 1)
    }
    expect(counts).toEqual([1, 1, 2, 2, 2, 3])
  })

  it('as the last one is followed by one more', async () => {
    const { deposit, chat } = await confirmed()
    await goTo(world, deposit, 50.01)
    world.plain.answer(chat, unsure)
    const counts: number[] = []
    for (const days of [50.02, 50.9, 51.1, 52.2, 59]) {
      await goTo(world, deposit, days)
      await sendAll(world)
      counts.push(told(chat).length - 1)
    }
    expect(counts).toEqual([1, 1, 2, 2, 2])
  })

  it('as a confirmation is not repeated, and the first reminder keeps its date', async () => {
    const buyer = await newLinked(world)
    world.plain.answer(buyer.chat, unsure)
    const deposit = await buyThrough(world.m, buyer, world.link)
    const counts: number[] = []
    for (const days of [0.01, 1.5, 2.9, 3.01]) {
      await goTo(world, deposit, days)
      await sendAll(world)
      counts.push(told(buyer.chat).length)
    }
    expect(counts).toEqual([1, 1, 1, 2])
  })
})

describe('while a message is on its way', () => {
  it('a moment that the owner chooses stands', async () => {
    const { buyer, deposit, chat } = await confirmed()
    await goTo(world, deposit, 3.01)
    await quiet(world.m)
    const letGo = world.plain.hold()
    const sent = sendDue(world.context, new Map())
    await until(() => told(chat).length === 2, 'the reminder')
    const { escrowId } = deposit
    expect(await snooze(world.context, [buyer.owner.address], { escrowId }, '1d')).toBeDefined()
    letGo()
    await sent
    await goTo(world, deposit, 4.1)
    await sendAll(world)
    expect(told(chat)).toEqual([PING, REMINDER, REMINDER])
  })

  it('and its lease has ended, its answer changes nothing any more', async () => {
    const { deposit, chat } = await confirmed()
    await goTo(world, deposit, 3.01)
    await quiet(world.m)
    world.plain.answer(chat, { state: 'blocked', reason: 'late' })
    const letGo = world.plain.hold()
    const late = sendDue(world.context, new Map())
    await until(
      async () => (await world.m.sql`SELECT FROM market.notices WHERE sending_chat = ${chat}`).count === 1,
      'the message on its way',
    )
    world.m.clock.aheadMs += 120_000
    await sendAll(world)
    letGo()
    await late
    await goTo(world, deposit, 3.5)
    await sendAll(world)
    expect(told(chat)).toEqual([PING])
    await goTo(world, deposit, 4.1)
    await sendAll(world)
    expect(told(chat)).toEqual([PING, REMINDER])
  })
})

describe('several workers', () => {
  it('send each message once', async () => {
    const buyers = await Promise.all(Array.from({ length: 3 * BATCH_SIZE }, () => newLinked(world)))
    for (const buyer of buyers) await buyThrough(world.m, buyer, world.link)
    await quiet(world.m)
    const workers = [1, 2, 3].map(() => runAlone(noticesWorker(world.context)))
    await until(() => buyers.every(({ chat }) => told(chat).length > 0), 'all confirmations')
    await Promise.all(workers.map((worker) => worker.stop()))
    expect(buyers.map(({ chat }) => told(chat))).toEqual(buyers.map(() => [PING]))
    const { count } = await world.m.sql`SELECT FROM market.notices WHERE lease_token IS NOT NULL`
    expect(count).toBe(0)
  })

  it('are part of a whole service', async () => {
    const { chat, ...buyer } = await newLinked(world)
    await buyThrough(world.m, buyer, world.link)
    const replica = await startReplica(world.m, { channels: world.context.channels })
    try {
      await until(() => told(chat).length === 1, 'the confirmation')
    } finally {
      expect(await replica.stop()).toEqual({ stuck: [] })
    }
  })

  it('end although a messenger does not answer, when nobody can wait any longer', async () => {
    const buyer = await newLinked(world)
    const letGo = world.plain.hold()
    await buyThrough(world.m, buyer, world.link)
    const worker = runAlone(noticesWorker(world.context))
    await until(() => told(buyer.chat).length === 1, 'the confirmation')
    await worker.abort()
    letGo()
    await linkChat(world, buyer)
  })
})

it('what became of messages is counted, and the longest due one shown', async () => {
  const { sent } = countNotices(world.context)
  const { deposit } = await confirmed()
  expect(countNotices(world.context).sent).toBeGreaterThan(sent)
  await goTo(world, deposit, 4)
  await quiet(world.m)
  const metrics = await (await fetch(`${world.m.service.url}/metrics`)).text()
  expect(metrics).toContain(`referrer_notices_total{outcome="sent"} ${countNotices(world.context).sent}`)
  const [, seconds] = /^referrer_notices_oldest_due_seconds (.*)$/m.exec(metrics) ?? []
  expect(Number(seconds)).toBeGreaterThan(86_300)
})
