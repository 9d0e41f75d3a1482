import { mintUsdc } from '@referrer/contracts/local'
import { type Hash, type LocalAccount, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body } from '../payloads.ts'
import { act, betweenBlocks, block, cancellation, inOneBatch, type Settle, waitingAt } from './acts.ts'
import { type Books, openBooks } from './books.ts'
import { GREEDY } from './wallets.ts'

const MAX_BATCH = 32
let m: TestFacilitator
let books: Books

beforeAll(async () => {
  const env = { LINGER_MS: '300', MAX_BATCH: String(MAX_BATCH), MAX_BATCHES_IN_FLIGHT: '2' }
  m = await startTestFacilitator({ env })
  books = await openBooks(m)
})
afterAll(() => m?.close())

const settle = async (body: Body) => (await m.settle(body)).body

async function payments(count: number): Promise<Body[]> {
  const bodies: Body[] = []
  for (let at = 0; at < count; at += 1) bodies.push(await m.payload(await m.newBuyer(2n * PRICE)))
  return bodies
}

/** How many payments each transaction had since. */
function sizesSince(seen: number): number[] {
  return m.events.slice(seen).flatMap((event) => (event.type === 'sending' ? [event.size] : []))
}

const transactionsOf = (answers: { transaction: Hash }[]) =>
  new Set(answers.map(({ transaction }) => transaction))

describe('a payer with money for one of two payments', () => {
  it('makes one of them when both come at once, and the other when there is more', async () => {
    const buyer = await m.newBuyer(PRICE)
    const bodies = [await m.payload(buyer), await m.payload(buyer)]
    const answers = await Promise.all(bodies.map(settle))
    expect(answers.map(({ success }) => success).toSorted()).toEqual([false, true])
    const refused = answers.findIndex(({ success }) => !success)
    expect(answers[refused]).toMatchObject({
      errorReason: 'settle_failed',
      transaction: '',
      retryable: true,
    })
    expect(await m.balanceOf(buyer.address)).toBe(0n)
    await books.audit()

    await mintUsdc(m.market, buyer.address, PRICE)
    expect(await settle(bodies[refused] as Body)).toMatchObject({ success: true })
    await books.audit()
  })

  it('makes one of them when the second comes while the first waits for its block, and the other when there is more', async () => {
    const buyer = await m.newBuyer(PRICE)
    const bodies = [await m.payload(buyer), await m.payload(buyer)] as const
    const answers = await betweenBlocks(m, async ({ sent, mine }) => {
      const first = settle(bodies[0])
      await sent(1)
      const second = settle(bodies[1])
      await sent(2)
      await mine()
      return Promise.all([first, second])
    })
    expect(answers[0]).toMatchObject({ success: true })
    expect(answers[1]).toMatchObject({ success: false, errorReason: 'settle_failed', pending: true })
    await books.audit({ reverted: 1 })
    await mintUsdc(m.market, buyer.address, PRICE)
    expect(await settle(bodies[1])).toMatchObject({ success: true })
    await books.audit()
  })
})

describe('payments that come together', () => {
  it('are settled in one transaction, whatever else is among them', async () => {
    const good = await payments(20)
    const buyer = await m.newBuyer(2n * PRICE)
    const blocked = await m.newBuyer(2n * PRICE)
    const cancelled = await m.payload(buyer)
    await act(m, await cancellation(m, buyer, cancelled))
    await act(m, block(m, blocked.address, true))
    const bad = [
      await m.payload(await m.newBuyer(PRICE - 1n)),
      cancelled,
      await m.payload(blocked),
      await m.payload(buyer, { validBefore: 1n }),
      await m.payload(buyer, { buyerAgentId: '999999' }),
      await m.payload(buyer, {
        requirements: { extra: { ...m.till.token, productId: numberToHex(7, { size: 32 }) } },
      }),
    ]
    const seen = m.events.length
    const mixed = [...bad.slice(0, 3), ...good, ...bad.slice(3)]
    const answers = await inOneBatch(m, mixed.length, (settle) => Promise.all(mixed.map(settle)))
    const isGood = mixed.map((body) => good.includes(body))
    expect(answers.map(({ success }) => success)).toEqual(isGood)
    expect(sizesSince(seen)).toEqual([good.length])
    expect(transactionsOf(answers.filter(({ success }) => success)).size).toBe(1)
    await act(m, block(m, blocked.address, false))
    await books.audit()
  })

  it('are settled in several transactions when they are more than one may have', async () => {
    const good = await payments(2 * MAX_BATCH + 6)
    const seen = m.events.length
    const answers = await Promise.all(good.map(settle))
    expect(answers.filter(({ success }) => success)).toHaveLength(good.length)
    const sizes = sizesSince(seen)
    expect(Math.max(...sizes)).toBe(MAX_BATCH)
    expect(transactionsOf(answers).size).toBe(sizes.length)
    await books.audit()
  })

  it('are as many in a transaction as may be when they had to wait', async () => {
    const good = await payments(2 + MAX_BATCH + 6)
    const seen = m.events.length
    const settling = await betweenBlocks(m, async ({ sent }) => {
      const [first, second, ...others] = good
      const answers = [settle(first as Body)]
      await sent(1)
      answers.push(settle(second as Body))
      await sent(2)
      answers.push(...others.map(settle))
      await waitingAt(m.facilitator, good.length)
      return answers
    })
    const answers = await Promise.all(settling)
    expect(answers.filter(({ success }) => success)).toHaveLength(good.length)
    expect(sizesSince(seen)).toEqual([1, 1, MAX_BATCH, 6])
    await books.audit()
  })

  it('of one payer are all settled', async () => {
    const buyer = await m.newBuyer(10n * PRICE)
    const bodies: Body[] = []
    for (let at = 0; at < 10; at += 1) bodies.push(await m.payload(buyer))
    const answers = await Promise.all(bodies.map(settle))
    expect(answers.filter(({ success }) => success)).toHaveLength(10)
    expect(await m.balanceOf(buyer.address)).toBe(0n)
    await books.audit()
  })
})

describe('payers that become gas burners between the trial and the block', () => {
  async function settleWithBurners(burners: number, others: number) {
    const buyers: LocalAccount[] = []
    while (buyers.length < burners + others) buyers.push(await m.newBuyer(2n * PRICE))
    // First in the transaction, so that all that they burn is missing afterwards.
    buyers.sort((a, b) => (a.address.toLowerCase() < b.address.toLowerCase() ? -1 : 1))
    const bodies = await Promise.all(buyers.map((buyer) => m.payload(buyer)))
    const settleBetween = (settle: Settle) =>
      betweenBlocks(m, async ({ sent, mine }) => {
        const settling = bodies.map(settle)
        await sent(bodies.length)
        for (const { address } of buyers.slice(0, burners))
          await m.chain.client.setCode({ address, bytecode: GREEDY })
        await mine()
        return Promise.all(settling)
      })
    return inOneBatch(m, bodies.length, settleBetween)
  }

  it.each([
    ['one of them is', 1],
    ['eight of them are', 8],
  ])('cost the others nothing, when %s in a batch', async (_how, burners) => {
    const answers = await settleWithBurners(burners, 6)
    const expected = answers.map((_, at) => at >= burners)
    expect(answers.map(({ success }) => success)).toEqual(expected)
    expect(transactionsOf(answers.filter(({ success }) => success)).size).toBe(1)
    await books.audit()
  })
})
