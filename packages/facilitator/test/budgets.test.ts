// What somebody may cost us in gas beyond the fees that they bring.
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { openBooks } from './abuse/books.ts'
import { send } from './asking.ts'
import { DAY_MS, PRICE, startTestFacilitator, type TestFacilitator, toNext } from './harness.ts'

/** Its fee is 200 base units, and its gas costs 6,000 to 8,000 of them. */
const CENT = 10_000n

let m: TestFacilitator

const pay = async (buyer: LocalAccount, amount: bigint, url = m.facilitator.url) =>
  (await send(url, 'POST', '/settle', { body: await m.payload(buyer, { amount }) })).body

async function payTimes(buyer: LocalAccount, times: number): Promise<boolean[]> {
  const answers: boolean[] = []
  for (let at = 0; at < times; at += 1) answers.push((await pay(buyer, CENT)).success)
  return answers
}

describe('a payer', () => {
  beforeAll(async () => {
    // Two purchases of a cent, each in a transaction of its own or both in one; not three.
    m = await startTestFacilitator({ env: { PAYER_BUDGET: '16000' } })
    // The first purchase of all takes more gas than those after it.
    expect(await pay(await m.newBuyer(), PRICE)).toMatchObject({ success: true })
  })
  afterAll(() => m?.close())
  // Whatever was used is there again.
  beforeEach(() => toNext(DAY_MS, m))

  it('that has used up its budget is told when it starts anew, and nobody else is held up', async () => {
    const [buyer, other] = [await m.newBuyer(), await m.newBuyer()]
    expect(await payTimes(buyer, 2)).toEqual([true, true])
    const books = await openBooks(m)
    const answer = await pay(buyer, CENT)
    expect(answer).toMatchObject({ success: false, errorReason: 'settle_failed', retryable: true })
    const tomorrow = new Date(Date.now() + m.clock.aheadMs + DAY_MS).toISOString().slice(0, 10)
    expect(answer.errorMessage).toContain(`its budget starts anew at ${tomorrow}T00:00Z`)
    expect(await pay(other, CENT)).toMatchObject({ success: true })
    m.clock.aheadMs += DAY_MS
    expect(await pay(buyer, CENT)).toMatchObject({ success: true })
    await books.audit()
  })

  it('that has used up its budget still pays what pays for its own gas, and has it again by that', async () => {
    const buyer = await m.newBuyer()
    expect(await payTimes(buyer, 3)).toEqual([true, true, false])
    expect(await pay(buyer, PRICE)).toMatchObject({ success: true })
    expect(await pay(buyer, CENT)).toMatchObject({ success: true })
  })

  it('has one budget, whichever process it is asked of, whenever, and however many it sends at once', async () => {
    const another = await m.startAnother()
    const buyer = await m.newBuyer()
    const bodies = await Promise.all(Array.from({ length: 6 }, () => m.payload(buyer, { amount: CENT })))
    const answers = await Promise.all(
      bodies.map((body, at) => send(at % 2 ? another.url : m.facilitator.url, 'POST', '/settle', { body })),
    )
    expect(answers.filter(({ body }) => body.success)).toHaveLength(2)
    await another.stop()
    await m.restart()
    expect(await pay(buyer, CENT)).toMatchObject({ success: false, errorReason: 'settle_failed' })
  })
})

describe('a merchant', () => {
  beforeAll(async () => {
    m = await startTestFacilitator({ env: { MERCHANT_BUDGET: '30000' } })
    toNext(DAY_MS, m)
  })
  afterAll(() => m?.close())

  it('whose budget strangers have used up still sells what pays for its own gas', async () => {
    const strangers: LocalAccount[] = []
    while (strangers.length < 6) strangers.push(await m.newBuyer())
    const answers = await Promise.all(strangers.map((stranger) => pay(stranger, CENT)))
    expect(answers.some(({ success }) => success)).toBe(true)
    const refused = answers.filter(({ success }) => !success)
    expect(refused.length).toBeGreaterThan(0)
    for (const { errorReason, errorMessage, retryable } of refused) {
      expect({ errorReason, retryable }).toEqual({ errorReason: 'settle_failed', retryable: true })
      expect(errorMessage).toContain('sales of this merchant cost more gas today than their fees brought')
    }
    expect(await pay(await m.newBuyer(), PRICE)).toMatchObject({ success: true })
  })
})

it('a fee that pays for more gas than there is, where gas costs nothing, is taken', async () => {
  m = await startTestFacilitator({ env: { GAS_PRICE_WEI: '1', ETH_PRICE_USD: '1' } })
  try {
    expect(await pay(await m.newBuyer(), 1_000n * PRICE)).toMatchObject({ success: true })
  } finally {
    await m.close()
  }
})
