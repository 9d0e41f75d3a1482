// Payers that agree while they are tried out, and have nothing left in the block: what it costs, and whom.
import { type Hash, type LocalAccount, parseEther } from 'viem'
import { afterEach, describe, expect, it } from 'vitest'
import { givenOn } from '../../src/settlement/allowance.ts'
import { send as ask } from '../asking.ts'
import { eventually } from '../eventually.ts'
import { billSince, costOf } from '../giving.ts'
import { DAY_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, betweenBlocks, inOneBatch, type Settle, send } from './acts.ts'

const CENT = 10_000n

let m: TestFacilitator
afterEach(() => m?.close())

const start = async (env: Record<string, string> = {}) => {
  m = await startTestFacilitator({ env: { LINGER_MS: '200', ...env } })
  toNext(DAY_MS, m)
}
const settle = async (body: Body) => (await m.settle(body)).body
const payments = (buyer: LocalAccount, count: number, amount = PRICE) =>
  Promise.all(Array.from({ length: count }, () => m.payload(buyer, { amount })))

/** All that the buyer has goes to somebody else, ahead of what waits in the pool. */
async function empty(buyer: LocalAccount): Promise<void> {
  await m.chain.client.setBalance({ address: buyer.address, value: parseEther('1') })
  const amount = await m.balanceOf(buyer.address)
  await send(m, { by: buyer, on: 'USDC', call: ['transfer', m.market.accounts.stranger.address, amount] })
}

/** Pays, and empties itself before the block; what others send shares it. */
async function failing(buyer: LocalAccount, bodies: Body[], others: Body[] = []) {
  const all = [...bodies, ...others]
  const settleBetween = (settle: Settle) =>
    betweenBlocks(m, async ({ sent, mine }) => {
      const settling = all.map(settle)
      await sent(settling.length)
      await empty(buyer)
      await mine()
      return Promise.all(settling)
    })
  return inOneBatch(m, all.length, settleBetween)
}

const lostOn = async (ms: number) => (await givenOn(m.sql, m.chainId, ms)).risk

describe('payments of an account that empties itself', () => {
  it('count against no merchant: nobody can close a shop by them', async () => {
    await start()
    const stranger = await m.newBuyer()
    for (const answer of await failing(stranger, await payments(stranger, 8))) {
      expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed' })
    }
    expect(await settle(await m.payload(await m.newBuyer(), { amount: CENT }))).toMatchObject({
      success: true,
    })
    expect(await settle(await m.payload(await m.newBuyer()))).toMatchObject({ success: true })
  })

  it('take nobody of their transaction down', async () => {
    await start()
    const [stranger, other] = [await m.newBuyer(), await m.newBuyer()]
    const [first, ...others] = await failing(stranger, await payments(stranger, 1), await payments(other, 8))
    expect(first).toMatchObject({ success: false, pending: true })
    for (const answer of others) expect(answer).toMatchObject({ success: true })
    expect(new Set(others.map(({ transaction }) => transaction)).size).toBe(1)
  })

  it('are a hundredth of the sum at most, whatever process is asked and however often it starts anew, until the day ends', async () => {
    await start({ GIVEAWAY_PER_DAY: '2000000' })
    const began = await m.chain.client.getBlockNumber()
    const stranger = await m.newBuyer()
    const another = await m.startAnother()
    try {
      let isOver = false
      for (let wave = 0; !isOver; wave += 1) {
        const bodies = await payments(stranger, 4)
        const ended = await betweenBlocks(m, async ({ mine }) => {
          let refused = 0
          const settling = bodies.map(async (body, at) => {
            const answer = await ask(at % 2 ? another.url : m.facilitator.url, 'POST', '/settle', { body })
            if (answer.body.retryable) refused += 1
            return answer.body
          })
          await eventually(async () => refused + (await sentNow())).toBe(bodies.length)
          await empty(stranger)
          await mine()
          return Promise.all(settling)
        })
        for (const { success, retryable, pending } of ended)
          expect(!success && (retryable || pending)).toBe(true)
        isOver = ended.every(({ retryable }) => retryable)
        await refilled(stranger)
        if (wave === 2) await m.restart()
      }
      const answer = await settle(await m.payload(stranger))
      expect(answer).toMatchObject({ success: false, retryable: true, transaction: '' })
      expect(answer.errorMessage).toContain(`payments of the wallet ${stranger.address.toLowerCase()}`)
      const { loss } = await billSince(m, began)
      expect(loss).toBeGreaterThan(0n)
      expect(loss).toBeLessThanOrEqual(20_000n)
      expect(await settle(await m.payload(await m.newBuyer()))).toMatchObject({ success: true })
      toNext(DAY_MS, m)
      expect(await settle(await m.payload(stranger))).toMatchObject({ success: true })
    } finally {
      await another.stop()
    }
  })

  it('of yesterday change nothing of today', async () => {
    await start()
    const buyer = await m.newBuyer()
    const today = m.facilitator.context.clock()
    const transactions = await betweenBlocks(m, async ({ sent, mine }) => {
      const first = settle(await m.payload(buyer))
      await sent(1)
      m.clock.aheadMs += DAY_MS
      const second = settle(await m.payload(buyer))
      await sent(2)
      await empty(buyer)
      await mine()
      for (const answer of await Promise.all([first, second]))
        expect(answer).toMatchObject({ success: false })
      return (await m.chain.client.getBlock()).transactions.slice(-2)
    })
    for (const [at, hash] of transactions.entries())
      expect(await lostOn(today + at * DAY_MS)).toBe(costOf(await gasOf(hash)))
  })

  it('are counted once, although every process is asked about them', async () => {
    await start()
    const another = await m.startAnother()
    try {
      const buyer = await m.newBuyer()
      const body = await m.payload(buyer)
      const [gasUsed, ...answers] = await betweenBlocks(m, async ({ sent, mine }) => {
        const here = m.settle(body)
        await sent(1)
        const tried = trials()
        const there = ask(another.url, 'POST', '/settle', { body })
        await eventually(() => trials() > tried).toBe(true)
        await empty(buyer)
        await mine()
        const block = await m.chain.client.getBlock()
        return Promise.all([gasOf(block.transactions.at(-1) as Hash), here, there])
      })
      for (const { body } of answers) expect(body).toMatchObject({ success: false })
      expect(await lostOn(m.facilitator.context.clock())).toBe(costOf(gasUsed))
    } finally {
      await another.stop()
    }
  })
})

async function refilled(buyer: LocalAccount): Promise<LocalAccount> {
  const { stranger } = m.market.accounts
  await act(m, { by: stranger, on: 'USDC', call: ['transfer', buyer.address, 10n * PRICE] })
  return buyer
}

async function sentNow(): Promise<number> {
  const [row] = await m.sql<{ sent: number }[]>`
    SELECT count(*)::int AS sent FROM facilitator.settlements s JOIN sender.intents i ON i.id = s.intent_id
    WHERE s.state = 'pending' AND i.state = 'sent'`
  return row?.sent ?? 0
}

const trials = () => m.nodes.calls.filter((call) => call.includes('eth_call')).length
const gasOf = async (hash: Hash) => (await m.chain.client.getTransactionReceipt({ hash })).gasUsed
