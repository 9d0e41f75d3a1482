import { Attribution } from '@referrer/protocol'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { snooze } from '../../src/derived/notices/operations.ts'
import { sweepNotices } from '../../src/derived/notices/store.ts'
import { must } from '../http/caller.ts'
import { transfer, travel } from '../http/chain.ts'
import { act, publishBuyerReview } from '../http/escrows.ts'
import { buyThrough, newcomer, type Person, quiet, tell } from '../http/town.ts'
import { mineBlocks } from '../oracle/world.ts'
import {
  DAY_MS,
  goTo,
  linkChat,
  madeAt,
  newLink,
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
let buyer: Person & { chat: string }

beforeAll(async () => {
  world = await startTestWorld()
})
afterAll(() => world.m.close())
beforeEach(async () => {
  buyer = await newLinked(world)
})

/** The answer to the end of the link. */
const UNLINKED = 'Unlinked'

const told = (chat = buyer.chat) => toldTo(world.plain, chat)
const unlink = (of: Person) => must(world.m.call('POST', '/v1/messenger/link/unlink', { as: of.owner }))

describe('a purchase', () => {
  it('by an agent is confirmed in the chat of its owner, once', async () => {
    const { escrowId } = await buyThrough(world.m, buyer, world.link, {
      price: 1_500_000n,
      cashbackOfCommissionBps: 4_000,
    })
    await sendAll(world)
    await sendAll(world)
    expect(told()).toEqual([PING])
    const { text } = world.plain.arrived.at(-1)?.message ?? {}
    expect(text).toContain('1.5 USDC')
    expect(text).toContain(`agent ${buyer.agentId}, escrow ${escrowId}.`)
    expect(text).toContain(`/snooze ${escrowId} `)
    expect(text).toContain('earns 0.06 USDC cashback')
  })

  it('by a wallet without an agent is not confirmed, also not after it was bound to one', async () => {
    const wallet = { owner: buyer.owner, agentId: Attribution.AGENTLESS_BUYER_ID }
    const deposit = await buyThrough(world.m, wallet, world.link)
    await sendAll(world)
    await act(world.m, buyer.owner, 'bind', deposit, buyer.agentId)
    await sendAll(world)
    expect(told()).toEqual([])
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    expect(told()).toEqual([REMINDER])
  })

  it('that is older than a week when it is first seen is not confirmed, but reminded of', async () => {
    const deposit = await buyThrough(world.m, buyer, world.link)
    await quiet(world.m)
    await goTo(world, deposit, 7.01)
    await sendAll(world)
    expect(told()).toEqual([REMINDER])
  })

  it('is confirmed although it is reviewed already', async () => {
    const deposit = await buyThrough(world.m, buyer, await newLink(world))
    await tell(world.m, buyer, deposit, 5)
    await sendAll(world)
    expect(told()).toEqual([PING])
    expect(world.plain.arrived.at(-1)?.message.text).toContain('There is nothing left to do.')
  })
})

describe('reminders', () => {
  it('come 3, 14, 30 and 50 days after the purchase, with buttons, and then no more', async () => {
    const deposit = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    const counts: number[] = []
    for (const days of [2.99, 3.01, 13.99, 14.01, 29.99, 30.01, 49.99, 50.01, 59.9, 61]) {
      await goTo(world, deposit, days)
      await sendAll(world)
      counts.push(told().length - 1)
    }
    expect(counts).toEqual([0, 1, 1, 2, 2, 3, 3, 4, 4, 4])
    const data = (duration: string) => `z:${world.m.chainId}:${deposit.escrowId}:${duration}`
    expect(world.plain.arrived.findLast(({ chat }) => chat === buyer.chat)?.message.buttons).toEqual([
      [
        { label: 'Tomorrow', data: data('1d') },
        { label: 'In 3 days', data: data('3d') },
        { label: 'In a week', data: data('1w') },
      ],
    ])
    const keys = world.plain.arrived.filter(({ chat }) => chat === buyer.chat).map(({ key }) => key)
    expect(new Set(keys).size).toBe(5)
  })

  it('that were missed during an outage come as one', async () => {
    const deposit = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    await goTo(world, deposit, 20)
    await sendAll(world)
    expect(told()).toEqual([PING, REMINDER])
    await goTo(world, deposit, 30.01)
    await sendAll(world)
    expect(told()).toEqual([PING, REMINDER, REMINDER])
  })

  it('end with the review, and with nothing less than its text', async () => {
    const link = await newLink(world)
    const reviewed = await buyThrough(world.m, buyer, link)
    const withoutText = await buyThrough(world.m, buyer, link)
    await publishBuyerReview(world.m, buyer.owner, withoutText)
    await tell(world.m, buyer, reviewed, 5)
    await sendAll(world)
    await goTo(world, withoutText, 3.01)
    await sendAll(world)
    expect(told()).toEqual([PING, PING, REMINDER])
    expect(world.plain.arrived.at(-1)?.message.text).toContain(`of escrow ${withoutText.escrowId} `)
  })

  it('are not sent when the review arrived after they were claimed', async () => {
    const deposit = await buyThrough(world.m, buyer, await newLink(world))
    await sendAll(world)
    await tell(world.m, buyer, deposit, 5)
    await quiet(world.m)
    // As if the follower had not seen the review yet.
    await world.m.sql`
      UPDATE market.notices SET due_at = ${new Date(await madeAt(world, deposit))} WHERE escrow_id = ${deposit.escrowId}`
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    expect(told()).toEqual([PING])
  })

  it('are not sent to a wallet that was unlinked, and go on where a new link begins', async () => {
    const deposit = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    await unlink(buyer)
    const other = await buyThrough(world.m, buyer, world.link)
    await goTo(world, other, 3.01)
    await sendAll(world)
    expect(told()).toEqual([PING, UNLINKED])
    const chat = await linkChat(world, buyer)
    await sendAll(world)
    expect(told(chat)).toEqual([])
    await goTo(world, other, 14.01)
    await sendAll(world)
    expect([told(), told(chat)]).toEqual([
      [PING, UNLINKED],
      [REMINDER, REMINDER],
    ])
    await goTo(world, deposit, 14.02)
    await sendAll(world)
    expect(told(chat)).toHaveLength(2)
  })

  it('go to whoever owns the agent then', async () => {
    const deposit = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    const heir = await newLinked(world)
    await transfer(world.m, buyer.owner, heir.owner.address, buyer.agentId)
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    expect([told(), told(heir.chat)]).toEqual([[PING], [REMINDER]])
  })
})

describe('after a reorganisation', () => {
  it('a purchase that is gone is not reminded of, and one that is back is not confirmed again', async () => {
    const { market } = world.m
    const id = await market.client.snapshot()
    const deposit = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    expect(told()).toEqual([PING])
    const { transactionHash } = await paid(deposit.nonce)
    const raw = await market.client.getTransaction({ hash: transactionHash })
    const made = await madeAt(world, deposit)
    await market.client.revert({ id })
    await mineBlocks(world.m, 2)
    world.m.clock.aheadMs = made + 3.01 * DAY_MS - Date.now()
    await sendAll(world)
    expect(told()).toEqual([PING])
    world.m.clock.aheadMs = 0
    // Somebody else's purchase has its escrow id now.
    const other = await newLinked(world)
    const { escrowId } = await buyThrough(world.m, other, world.link)
    expect(escrowId).toBe(deposit.escrowId)
    await market.client.sendTransaction({ account: raw.from, to: raw.to, data: raw.input } as never)
    await sendAll(world)
    expect([told(), told(other.chat)]).toEqual([[PING], [PING]])
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    expect([told(), told(other.chat)]).toEqual([
      [PING, REMINDER],
      [PING, REMINDER],
    ])
    expect(world.plain.arrived.findLast(({ chat }) => chat === buyer.chat)?.message.text).toContain(
      `escrow ${deposit.escrowId + 1n}`,
    )
  })

  it('a review that is gone is asked for again', async () => {
    const { market } = world.m
    const deposit = await buyThrough(world.m, buyer, await newLink(world))
    const id = await market.client.snapshot()
    await tell(world.m, buyer, deposit, 5)
    await sendAll(world)
    await market.client.revert({ id })
    await mineBlocks(world.m, 2)
    await quiet(world.m)
    await goTo(world, deposit, 3.01)
    await sendAll(world)
    expect(told()).toEqual([PING, REMINDER])
  })
})

const paid = async (nonce: string) => {
  const [row] = await world.m.sql<{ hash: `0x${string}` }[]>`
    SELECT '0x' || encode(transaction_hash, 'hex') AS hash FROM chain.escrows WHERE nonce = ${Buffer.from(nonce.slice(2), 'hex')}`
  if (!row) throw new Error('not in the records')
  return { transactionHash: row.hash }
}

describe('snoozing', () => {
  const put = (escrowId: bigint, duration: string, by: Person = buyer, chainId?: number) =>
    snooze(
      world.context,
      [by.owner.address],
      { escrowId, ...(chainId !== undefined && { chainId }) },
      duration,
    )

  it('moves the next reminder of that purchase alone, to exactly that moment', async () => {
    const one = await buyThrough(world.m, buyer, world.link)
    const other = await buyThrough(world.m, buyer, world.link)
    await sendAll(world)
    await goTo(world, one, 1)
    const { clock } = world.context
    const [from, until, to] = [clock(), await put(one.escrowId, '30m', buyer, world.m.chainId), clock()]
    expect(until?.getTime()).toBeGreaterThanOrEqual(from + 30 * 60_000)
    expect(until?.getTime()).toBeLessThanOrEqual(to + 30 * 60_000)
    await goTo(world, one, 1 + 29 / 1_440)
    await sendAll(world)
    expect(told()).toEqual([PING, PING])
    await goTo(world, one, 1 + 31 / 1_440)
    await sendAll(world)
    expect(told()).toEqual([PING, PING, REMINDER])
    expect(await put(one.escrowId, '1w')).toBeDefined()
    await goTo(world, other, 3.02)
    await sendAll(world)
    expect(told()).toHaveLength(4)
    expect(world.plain.arrived.at(-1)?.message.text).toContain(`of escrow ${other.escrowId} `)
    await goTo(world, one, 8.2)
    await sendAll(world)
    expect(told()).toHaveLength(5)
    await goTo(world, one, 14.1)
    await sendAll(world)
    expect(told()).toHaveLength(7)
  })

  it('is refused past the end of the window, and in all other cases alike', async () => {
    const deposit = await buyThrough(world.m, buyer, await newLink(world))
    await sendAll(world)
    const stranger = await newcomer(world.m)
    const { escrowId } = deposit
    expect(await put(escrowId, '9w')).toBeUndefined()
    expect(await put(escrowId, '8w')).toBeDefined()
    const before = await rows()
    for (const duration of [
      '61d',
      '999999w',
      '0d',
      '-1d',
      '1.5d',
      '3',
      'd',
      '3 d',
      '3d ',
      '03d',
      '1y',
      '',
      '１d',
    ])
      expect(await put(escrowId, duration)).toBeUndefined()
    for (const id of [escrowId + 1_000n, 0n, -1n, 2n ** 63n, 2n ** 300n])
      expect(await put(id, '1d')).toBeUndefined()
    expect(await put(escrowId, '1d', stranger)).toBeUndefined()
    expect(await put(escrowId, '1d', buyer, 8453)).toBeUndefined()
    expect(await snooze(world.context, [], { escrowId }, '1d')).toBeUndefined()
    expect(await rows()).toEqual(before)
    await tell(world.m, buyer, deposit, 5)
    await quiet(world.m)
    expect(await put(escrowId, '1d')).toBeUndefined()
    const late = await buyThrough(world.m, buyer, world.link)
    await quiet(world.m)
    await goTo(world, late, 59.5)
    expect(await put(late.escrowId, '1d')).toBeUndefined()
    expect(await put(late.escrowId, '11h')).toBeDefined()
  })

  const rows = () => world.m.sql`SELECT * FROM market.notices ORDER BY payer, nonce`
})

it('notices are deleted a month after the window has ended', async () => {
  const deposit = await buyThrough(world.m, buyer, world.link)
  await quiet(world.m)
  const count = async () =>
    (await world.m.sql`SELECT FROM market.notices WHERE escrow_id = ${deposit.escrowId}`).count
  const sweep = () =>
    sweepNotices(world.context).run({ signal: AbortSignal.timeout(60_000), sql: world.m.sql })
  await goTo(world, deposit, 89.9)
  await sweep()
  expect(await count()).toBe(1)
  await goTo(world, deposit, 90.1)
  await sweep()
  expect(await count()).toBe(0)
})

it('a settled escrow is not reminded of', async () => {
  const deposit = await buyThrough(world.m, buyer, world.link)
  await sendAll(world)
  await travel(world.m, 71 * 86_400)
  await act(world.m, world.m.market.accounts.stranger, 'settleFallback', deposit)
  await goTo(world, deposit, 3.01)
  await sendAll(world)
  expect(told()).toEqual([PING])
})
