// Clients that drop extensions which they do not know: what they were sent with tells link and buyer.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc } from '@referrer/contracts/local'
import { Attribution, X402 } from '@referrer/protocol'
import { evm, Mppx } from 'mppx/client'
import { type Hash, type Hex, maxUint256 } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'
import type { PayloadOptions } from '../../facilitator/test/payloads.ts'
import { createPaymentMemory, createReferralEndpoint, type MerchantEvent } from '../src/index.ts'
import { nodeHandler } from '../src/node.ts'
import { bodyOf, headerOf } from './world.ts'

let m: TestFacilitator
let agentId: bigint
let server: Server
let url: string
const events: MerchantEvent[] = []

beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
  const { buyer } = m.market.accounts
  await mintUsdc(m.market, buyer.address, 100n * PRICE)
  agentId = await m.newAgent(buyer)
  const endpoint = createReferralEndpoint({
    chainId: m.chainId,
    rpcUrl: m.node.url,
    addressRegistry: m.market.addresses.AddressRegistry,
    facilitatorUrl: m.facilitator.url,
    setupUrl: 'https://market.test/.well-known/referrer-agent',
    merchantId: m.merchant.merchantId,
    product: { id: m.merchant.productId },
    payments: createPaymentMemory(),
    price: PRICE,
    serve: () => ({ joke: 'a good one' }),
    onEvent: (event) => events.push(event),
  })
  server = createServer(nodeHandler(endpoint)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await m?.close()
})

const linked = (token = m.till.attributionToken) => ({
  'X-Referrer-Token': token,
  'X-Referrer-Buyer-Agent-Id': String(agentId),
})

async function escrowOf(response: Response) {
  const { transaction } = await bodyOf(response)
  const [escrow] = await m.escrowsIn(transaction as Hash)
  return escrow
}

/** A payment of the buyer as a request brings it. */
async function paying(options: PayloadOptions, change: (payload: Record<string, unknown>) => object) {
  const { paymentPayload } = await m.payload(m.market.accounts.buyer, options)
  return { 'PAYMENT-SIGNATURE': X402.encodeHeader(change({ ...paymentPayload }), 'standard') }
}
const without = ({ extensions: _, ...strict }: Record<string, unknown>) => strict
const whole = (payload: object) => payload

describe('mppx in x402 mode', () => {
  it('buys from our shop, and the purchase has its link and its buyer', async () => {
    const { buyer } = m.market.accounts
    const mppx = Mppx.create({
      methods: [evm({ account: buyer, networks: [m.chainId], currencies: [m.till.usdc] })],
      polyfill: false,
      maxPaymentRetries: 1,
    })
    const response = await mppx.fetch(url, { headers: linked() })
    expect(response.status).toBe(200)
    expect(headerOf(response, 'PAYMENT-RESPONSE')).toMatchObject({ success: true, payer: buyer.address })
    expect(await escrowOf(response)).toMatchObject({
      payer: buyer.address,
      price: PRICE,
      reviewId: m.reviewer.reviewId,
      reviewerAgentId: m.reviewer.agentId,
      buyerAgentId: agentId,
    })
    expect(events.at(-1)).toMatchObject({
      type: 'sold',
      sale: { attributionToken: m.till.attributionToken, buyerAgentId: String(agentId) },
    })
  })
})

describe('a payment without extensions', () => {
  it('whose nonce commits to its link is settled with the salt of the header, and refused without', async () => {
    const salt = Attribution.randomSecret()
    const committed = { salt, buyerAgentId: String(agentId) }
    const payment = await paying(committed, without)
    const refused = await fetch(url, { headers: { ...payment, ...linked() } })
    expect(refused.status).toBe(402)
    const headers = { ...payment, ...linked(), 'X-Referrer-Attribution-Salt': salt }
    const response = await fetch(url, { headers })
    expect(response.status).toBe(200)
    expect(await escrowOf(response)).toMatchObject({ buyerAgentId: agentId })
  })

  it('and without headers is refused, with the text that says what is missing', async () => {
    const response = await fetch(url, { headers: await paying({}, without) })
    expect(response.status).toBe(402)
    expect((await bodyOf(response)).errorMessage).toContain('extensions.attributionToken is missing')
  })

  it('is refused when its headers name a link that is none', async () => {
    const payment = await paying({}, without)
    const response = await fetch(url, { headers: { ...payment, 'X-Referrer-Token': 'no-link' } })
    expect(response.status).toBe(402)
    expect(await bodyOf(response)).toMatchObject({ errorReason: 'invalid_payment' })
  })

  it('that came with one link is not taken for another while its outcome is open', async () => {
    const payment = await paying({}, without)
    const shop = createReferralEndpoint({
      chainId: m.chainId,
      rpcUrl: m.node.url,
      addressRegistry: m.market.addresses.AddressRegistry,
      // Nobody answers there, so that nobody knows what became of the payment.
      facilitatorUrl: 'http://127.0.0.1:3',
      setupUrl: 'https://market.test/.well-known/referrer-agent',
      merchantId: m.merchant.merchantId,
      payments: createPaymentMemory(),
      price: PRICE,
      serve: () => ({}),
    })
    const ask = async (token: string) =>
      (await shop.fetch(new Request('https://shop.test/buy', { headers: { ...payment, ...linked(token) } })))
        .status
    expect(await ask(m.till.attributionToken)).toBe(504)
    expect(await ask(await m.mint({ cashbackOfCommissionBps: 0 }))).toBe(409)
    expect(await ask(m.till.attributionToken)).toBe(504)
  })
})

describe('a payment that names its link', () => {
  it.each([
    ['by a committed nonce', { salt: Attribution.randomSecret() }],
    ['by its extensions alone', {}],
  ] as [string, { salt?: Hex }][])(
    '%s keeps it, and stays without an agent, whatever the headers say',
    async (_, options) => {
      const payment = await paying(options, whole)
      const other = await m.mint({ cashbackOfCommissionBps: 0 })
      const headers = {
        ...payment,
        ...linked(other),
        'X-Referrer-Attribution-Salt': Attribution.randomSecret(),
      }
      const response = await fetch(url, { headers })
      expect(response.status).toBe(200)
      const escrow = await escrowOf(response)
      expect(escrow).toMatchObject({ reviewId: m.reviewer.reviewId, buyerAgentId: maxUint256 })
      expect(escrow?.cashback).toBeGreaterThan(0n)
    },
  )
})
