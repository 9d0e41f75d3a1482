// A shop that changes its prices while a payment is on its way: nobody knows yet whether it was settled, and the buyer comes again with it.
import { X402 } from '@referrer/protocol'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { betweenBlocks } from '../../facilitator/test/abuse/acts.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'
import { createPaymentMemory, createReferralEndpoint, type MarketConfig, type Sale } from '../src/index.ts'
import { officialReferral } from '../src/x402.ts'
import { bodyOf, ENDPOINT, SETUP_URL } from './world.ts'

let m: TestFacilitator
beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
})
afterAll(() => m?.close())

const marketOf = (): MarketConfig => ({
  chainId: m.chainId,
  rpcUrl: m.node.url,
  addressRegistry: m.market.addresses.AddressRegistry,
  facilitatorUrl: m.facilitator.url,
  setupUrl: SETUP_URL,
  merchantId: m.merchant.merchantId,
  product: { id: m.merchant.productId },
  payments: createPaymentMemory(),
  checkOnChain: true,
})

/** A shop that sells at the price of the moment, and gives up early on its facilitator. */
async function repricing() {
  const sales: Sale[] = []
  const state = { price: PRICE, isCut: false, aheadMs: 0 }
  const endpoint = createReferralEndpoint({
    ...marketOf(),
    timeoutMs: 1_000,
    now: () => Date.now() + state.aheadMs,
    async fetch(input, init) {
      if (state.isCut && String(input).endsWith('/settle')) throw new TypeError('fetch failed')
      return fetch(input, init)
    },
    price: () => state.price,
    serve: (_request, sale) => {
      sales.push(sale)
      return { number: sales.length }
    },
  })
  await endpoint.ready()
  const { paymentPayload } = await m.payload(await m.newBuyer())
  const headers = { 'PAYMENT-SIGNATURE': X402.encodeHeader(paymentPayload, 'standard') }
  const { from, nonce, validBefore } = paymentPayload.payload.authorization
  return {
    sales,
    state,
    ends: Number(validBefore),
    async pay(price: bigint) {
      state.price = price
      const response = await endpoint.fetch(new Request(ENDPOINT, { headers }))
      expect(response.headers.has('PAYMENT-REQUIRED')).toBe(response.status === 402)
      return response
    },
    standing: async () => (await m.call('GET', `/settlements/${from}/${nonce}`)).body,
  }
}

it.each([
  ['fell', PRICE - 1n, 200],
  ['rose', PRICE + 1n, 409],
] as const)(
  'what was on its way when the price %s is owed: it is served for what costs no more',
  async (_, price, status) => {
    const shop = await repricing()
    await betweenBlocks(m, async ({ sent }) => {
      const first = shop.pay(PRICE)
      await sent(1)
      expect((await first).status).toBe(504)
      expect((await shop.pay(price)).status).toBe(504)
    })
    await expect.poll(async () => (await shop.standing()).status).toBe('settled')
    const { transaction } = await shop.standing()
    const response = await shop.pay(price)
    expect([response.status, await bodyOf(response)]).toMatchObject([status, { transaction }])
    if (status === 409) {
      expect(shop.sales).toEqual([])
      expect((await shop.pay(PRICE)).status).toBe(200)
    }
    expect(shop.sales).toMatchObject([{ transaction, amount: PRICE }])
    expect((await shop.pay(PRICE)).status).toBe(409)
    expect(shop.sales).toHaveLength(1)
  },
)

it('nobody is asked to pay the new price as long as the first request may still be on its way', async () => {
  for (const isPaid of [true, false]) {
    const { state, pay, ends, sales } = await repricing()
    state.isCut = true
    expect((await pay(PRICE)).status).toBe(504)
    state.isCut = false
    const response = await pay(PRICE + 1n)
    expect([response.status, await bodyOf(response)]).toMatchObject([504, { until: ends }])
    if (!isPaid) state.aheadMs = ends * 1_000 + 61_000 - Date.now()
    expect((await pay(isPaid ? PRICE : PRICE + 1n)).status).toBe(isPaid ? 200 : 402)
    expect(sales).toHaveLength(isPaid ? 1 : 0)
  }
})

it('a shop on the official middleware, too, neither forgets nor serves for more what was on its way', async () => {
  let isLost = true
  const { facilitator } = officialReferral({
    ...marketOf(),
    async fetch(input, init) {
      const answer = await fetch(input, init)
      if (isLost && String(input).includes('/settle')) throw new TypeError('fetch failed')
      return answer
    },
  })
  const { paymentPayload, paymentRequirements } = await m.payload(await m.newBuyer())
  const settle = (price: bigint) =>
    facilitator.settle(
      paymentPayload as PaymentPayload,
      { ...paymentRequirements, amount: String(price) } as PaymentRequirements,
    )
  await expect(settle(PRICE)).rejects.toThrow('send the same PAYMENT-SIGNATURE again')
  isLost = false
  for (const [price, success] of [
    [PRICE + 1n, false],
    [PRICE - 1n, true],
    [PRICE - 1n, false],
  ] as const) {
    expect(await settle(price)).toMatchObject({ success, transaction: expect.stringMatching(/^0x/) })
  }
})
