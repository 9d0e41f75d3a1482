// What a linked chat is told about purchases, and how its owner puts reminders off.
import type { EscrowDeposit } from '@referrer/contracts/local'
import { Attribution } from '@referrer/protocol'
import type { Message, Person } from '@referrer/telegram-stand-in'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { noticesFollower } from '../../src/derived/notices/follow.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from '../http/caller.ts'
import { travel } from '../http/chain.ts'
import type { TestMarket } from '../http/market.ts'
import { openRecorded } from '../http/merchants.ts'
import { buyThrough, newcomer, newProduct, type Person as Owner, type Review, write } from '../http/town.ts'
import { DAY_MS, sendAll } from '../notices/world.ts'
import { startReplica } from '../oracle/world.ts'
import { type Chats, link, newWallet, somebody, startChats, told } from './chats.ts'

const PING = /^Purchase confirmed/
const REMINDER = /^Not reviewed yet/

let chats: Chats
let m: TestMarket
/** The review through which everybody buys. */
let review: Review
/** An owner whose wallet is linked to the chat of Ann, for each test. */
let owner: Owner
let ann: Person

beforeAll(async () => {
  // Nobody sends what is due but `sendAll`, so that a test knows when nothing more is to come.
  chats = await startChats({ overrides: { work: { schedules: [], followers: [noticesFollower] } } })
  m = chats.m
  const merchantId = await openRecorded(m)
  review = await write(m, await newcomer(m), await newProduct({ m, merchantId }))
})
afterAll(() => chats.close())
beforeEach(async () => {
  ann = somebody(chats)
  owner = await newcomer(m)
  await m.indexed()
  await link(chats, owner.owner, ann)
  await chainCatchesUp()
})

/** The clock of the service was moved for earlier tests; purchases are made at the time of the chain. */
async function chainCatchesUp(): Promise<void> {
  const { timestamp } = await m.market.client.getBlock()
  const behind = Math.floor(m.call.clock() / 1_000) - Number(timestamp)
  if (behind > 0) await travel(m, behind)
  await m.indexed()
}

const due = () => sendAll({ m, context: m.service.context })
const say = (text: string, person = ann) => told(chats, person, text)
const bought = (by = owner): Promise<EscrowDeposit> => buyThrough(m, by, review)
const unlinked = (of = owner) => must(m.call('POST', '/v1/messenger/link/unlink', { as: of.owner }))

/** Buys, and waits until the chat was told of it. */
async function confirmed(): Promise<EscrowDeposit> {
  const deposit = await bought()
  await due()
  return deposit
}

/** Lets days pass, and sends what is due then. */
async function pass(days: number): Promise<void> {
  m.clock.aheadMs += days * DAY_MS
  await due()
}

/** What a chat was told that begins like this. */
const heard = (beginning: RegExp, person = ann): Message[] =>
  person.messages().filter(({ from, text = '' }) => from.is_bot && beginning.test(text))
/** The purchases that these messages are about. */
const about = (messages: Message[]) => messages.map(({ text = '' }) => /escrow (\d+)/.exec(text)?.[1])

describe('a linked chat', () => {
  it('is told of each purchase once [MSG-56]', async () => {
    const purchases = [await bought(), await bought()]
    await due()
    await due()
    expect(about(heard(PING)).sort()).toEqual(purchases.map(({ escrowId }) => String(escrowId)).sort())
    await pass(1)
    expect(heard(PING)).toHaveLength(2)
  })

  it('is reminded of a purchase without a review, on day 3, 14, 30 and 50 [MSG-55]', async () => {
    const { escrowId } = await confirmed()
    await pass(2.9)
    expect(heard(REMINDER)).toEqual([])
    for (const [days, reminders] of [
      [0.2, 1],
      [10, 1],
      [1, 2],
      [16, 3],
      [20, 4],
    ] as const) {
      await pass(days)
      expect(about(heard(REMINDER))).toEqual(Array.from({ length: reminders }, () => String(escrowId)))
    }
    await pass(12)
    expect(heard(REMINDER)).toHaveLength(4)
  })

  it('is told by the worker of a whole service, too [MSG-55, MSG-56]', async () => {
    const service = await startReplica(m)
    try {
      const { escrowId } = await bought()
      const begins = (beginning: RegExp) => () => about(heard(beginning)).includes(String(escrowId))
      await ann.until(begins(PING))
      const isRecorded = async () =>
        (await m.sql`SELECT FROM market.notices WHERE escrow_id = ${escrowId} AND pinged`).length > 0
      await until(isRecorded, 'the message in the records')
      m.clock.aheadMs += 3.1 * DAY_MS
      await ann.until(begins(REMINDER))
      expect([heard(PING).length, heard(REMINDER).length]).toEqual([1, 1])
    } finally {
      await service.stop()
    }
  })

  it('is told nothing of purchases without an agent, of its own wallet either [MSG-57]', async () => {
    await bought({ owner: owner.owner, agentId: Attribution.AGENTLESS_BUYER_ID })
    await due()
    await pass(3.1)
    expect([heard(PING), heard(REMINDER)]).toEqual([[], []])
    await bought()
    await due()
    expect(heard(PING)).toHaveLength(1)
  })

  it('is told until it is unlinked, by the route or in the chat, and by nothing else [MSG-58]', async () => {
    for (const text of ['/stop', '/mute', '/silence', '/optout', '/help stop', 'stop']) await say(text)
    await bought()
    await due()
    expect(heard(PING)).toHaveLength(1)
    const muting = chats.telegram
      .commands()
      .filter(({ command }) => /stop|mute|off|notif|subscribe/.test(command))
    expect(muting).toEqual([])
    await unlinked()
    await bought()
    await pass(3.1)
    expect([heard(PING).length, heard(REMINDER).length]).toEqual([1, 0])
    await link(chats, owner.owner, ann)
    await say('/unlink')
    await bought()
    await pass(14)
    expect([heard(PING).length, heard(REMINDER).length]).toEqual([1, 0])
  })

  it('is told of the purchases of its own wallets alone, and the new chat of a wallet that moved', async () => {
    const ben = somebody(chats)
    const other = await newcomer(m)
    await m.indexed()
    await link(chats, other.owner, ben)
    const { escrowId } = await bought()
    await due()
    expect([about(heard(PING)), heard(PING, ben)]).toEqual([[String(escrowId)], []])
    await link(chats, owner.owner, ben)
    await pass(3.1)
    expect([heard(REMINDER), about(heard(REMINDER, ben))]).toEqual([[], [String(escrowId)]])
  })
})

describe('/snooze', () => {
  it('puts off the reminder of one purchase, and of no other [MSG-51]', async () => {
    const [first, second] = [await bought(), await bought()]
    await due()
    expect(await say(`/snooze ${first.escrowId} 5d`)).toContain(`escrow ${first.escrowId}`)
    await pass(3.1)
    expect(about(heard(REMINDER))).toEqual([String(second.escrowId)])
    await pass(1.8)
    expect(heard(REMINDER)).toHaveLength(1)
    await pass(0.2)
    expect(about(heard(REMINDER))).toEqual([String(second.escrowId), String(first.escrowId)])
  })

  it.each([
    ['30m', 30 / 1_440],
    ['12h', 0.5],
    ['2d', 2],
    ['1w', 7],
  ])('takes %s [MSG-51]', async (duration, days) => {
    const { escrowId } = await confirmed()
    await pass(3.1)
    expect(heard(REMINDER)).toHaveLength(1)
    await say(`/snooze ${escrowId} ${duration}`)
    await pass(days * 0.9)
    expect(heard(REMINDER)).toHaveLength(1)
    await pass(days * 0.1 + 0.001)
    expect(heard(REMINDER)).toHaveLength(2)
  })

  it('is a button of a reminder, too, that works for whoever has the wallet', async () => {
    const { escrowId } = await confirmed()
    await pass(3.1)
    const [reminder] = heard(REMINDER)
    if (!reminder) throw new Error('no reminder')
    ann.press(reminder.message_id, 'In 3 days')
    await ann.until((messages) =>
      messages.find(({ message_id, edit_date }) => message_id === reminder.message_id && edit_date),
    )
    await pass(2.9)
    expect(heard(REMINDER)).toEqual([])
    await pass(0.2)
    expect(about(heard(REMINDER))).toEqual([String(escrowId)])
  })

  it('does not go past the 60 days of the window, up to which it does [MSG-52]', async () => {
    const { escrowId } = await confirmed()
    await pass(2)
    for (const duration of ['59d', '9w', '999999w', '999999d', '84000m']) {
      expect(await say(`/snooze ${escrowId} ${duration}`)).toMatch(/^I cannot do that/)
    }
    await pass(1.1)
    expect(heard(REMINDER)).toHaveLength(1)
    await say(`/snooze ${escrowId} 56d`)
    await pass(55.9)
    expect(heard(REMINDER)).toHaveLength(1)
    await pass(0.2)
    expect(heard(REMINDER)).toHaveLength(2)
  })

  it('refuses everything in the same words, and nothing is put off [MSG-53]', async () => {
    const other = await newcomer(m)
    await m.indexed()
    const [mine, foreign] = [await bought(), await bought(other)]
    const agentless = await bought({ owner: owner.owner, agentId: Attribution.AGENTLESS_BUYER_ID })
    await due()
    const refused = [
      ...[
        `${foreign.escrowId} 3d`,
        `${agentless.escrowId} 3d`,
        '987654321 3d',
        '0 3d',
        `${'9'.repeat(18)} 3d`,
      ],
      ...[`${'9'.repeat(40)} 3d`, '-1 3d', '1.5 3d', 'x 3d', '', `${mine.escrowId}`, `${mine.escrowId} `],
      ...[`${mine.escrowId} 0d`, `${mine.escrowId} -1d`, `${mine.escrowId} 3`, `${mine.escrowId} 3y`],
      ...[`${mine.escrowId} 3 d`, `${mine.escrowId} 1.5d`, `${mine.escrowId} 61d`, `${mine.escrowId} 3d 3d`],
      ...[`${mine.escrowId} constructor`, `${mine.escrowId} 3D;`],
    ]
    const answers = new Set<string>()
    for (const words of refused) answers.add(await say(`/snooze ${words}`))
    const ben = somebody(chats)
    answers.add(await say(`/snooze ${mine.escrowId} 3d`, ben))
    await link(chats, newWallet(), ben)
    answers.add(await say(`/snooze ${mine.escrowId} 3d`, ben))
    expect([...answers]).toHaveLength(1)
    await pass(3.1)
    expect(about(heard(REMINDER))).toEqual([String(mine.escrowId)])
  })
})
