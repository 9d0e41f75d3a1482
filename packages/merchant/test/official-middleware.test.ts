// Shops on the official Hono and Express middleware, with what `@referrer/merchant/x402` gives them, sell through our facilitator.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { mintUsdc, privateKeyOf } from '@referrer/contracts/local'
import { Attribution, X402 } from '@referrer/protocol'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme as ClientScheme } from '@x402/evm'
import { ExactEvmScheme as ServerScheme } from '@x402/evm/exact/server'
import { paymentMiddleware as expressMiddleware } from '@x402/express'
import {
  bazaarResourceServerExtension,
  declareDiscoveryExtension,
  validateDiscoveryExtension,
} from '@x402/extensions/bazaar'
import {
  createEIP712OfferReceiptIssuer,
  createOfferReceiptExtension,
  declareOfferReceiptExtension,
  extractOffersFromPaymentRequired,
  extractReceiptFromResponse,
  verifyReceiptSignatureEIP712,
} from '@x402/extensions/offer-receipt'
import {
  createSIWxResourceServerExtension,
  declareSIWxExtension,
  InMemorySIWxStorage,
  wrapFetchWithSIWx,
} from '@x402/extensions/sign-in-with-x'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { paymentMiddleware as honoMiddleware, x402ResourceServer } from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import { type Hash, type LocalAccount, maxUint256 } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'
import { createPaymentMemory, type MarketConfig, type MerchantEvent } from '../src/index.ts'
import { officialReferral } from '../src/x402.ts'

let m: TestFacilitator
/** A buyer that is an agent. */
let agent: { buyer: LocalAccount; buyerAgentId: bigint }
const servers: Server[] = []

beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
  const { buyer } = m.market.accounts
  await mintUsdc(m.market, buyer.address, 100n * PRICE)
  agent = { buyer, buyerAgentId: await m.newAgent(buyer) }
})
afterAll(async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await m?.close()
})

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/thing`
}

interface OfficialShop {
  url: string
  served: number
  events: MerchantEvent[]
}

/** As docs/selling.md says. */
const shops = {
  async hono(changes: Partial<MarketConfig> = {}): Promise<OfficialShop> {
    const shop: OfficialShop = { url: '', served: 0, events: [] }
    const { server, route } = resourceServer(shop, changes)
    const app = new Hono()
    app.use(honoMiddleware({ '/thing': route }, server))
    app.all('/thing', (context) => context.json({ thing: ++shop.served }))
    shop.url = await listen(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })))
    return shop
  },
  async express(changes: Partial<MarketConfig> = {}): Promise<OfficialShop> {
    const shop: OfficialShop = { url: '', served: 0, events: [] }
    const { server, route } = resourceServer(shop, changes)
    const app = express()
    app.use(expressMiddleware({ '/thing': route }, server))
    app.all('/thing', (_request, response) => void response.json({ thing: ++shop.served }))
    shop.url = await listen(createServer(app))
    return shop
  },
}

function resourceServer(shop: OfficialShop, changes: Partial<MarketConfig>) {
  const referral = officialReferral({
    chainId: m.chainId,
    rpcUrl: m.node.url,
    addressRegistry: m.market.addresses.AddressRegistry,
    facilitatorUrl: m.facilitator.url,
    setupUrl: 'https://market.test/.well-known/referrer-agent',
    merchantId: m.merchant.merchantId,
    product: { id: m.merchant.productId },
    payments: createPaymentMemory(),
    onEvent: (event) => shop.events.push(event),
    ...changes,
  })
  const server = new x402ResourceServer(referral.facilitator).register(referral.network, new ServerScheme())
  for (const extension of referral.extensions) server.registerExtension(extension)
  return { server, route: referral.route(PRICE) }
}

const linked = (buyerAgentId?: bigint) => ({
  'X-Referrer-Token': m.till.attributionToken,
  ...(buyerAgentId !== undefined && { 'X-Referrer-Buyer-Agent-Id': String(buyerAgentId) }),
})

/** The official client, and the header that it paid with. */
function clientOf(account: LocalAccount) {
  const network = X402.Network.from(m.chainId)
  const sent = { signature: '' }
  const pay = wrapFetchWithPaymentFromConfig(
    (input, init) => {
      const { headers } = new Request(input, init)
      sent.signature = headers.get('PAYMENT-SIGNATURE') ?? ''
      return fetch(input, init)
    },
    { schemes: [{ network, client: new ClientScheme(account) }], spendControls: false },
  )
  return { pay, sent }
}

async function escrowOf(response: Response) {
  const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
  expect(receipt.success).toBe(true)
  const [escrow] = await m.escrowsIn(receipt.transaction as Hash)
  return escrow
}

describe.each(['hono', 'express'] as const)('a shop on the official %s middleware', (kind) => {
  it('offers what our own endpoint offers: the split router, the link, the buyer and the manifest', async () => {
    const { url } = await shops[kind]()
    const response = await fetch(url, { headers: linked(7n) })
    expect(response.status).toBe(402)
    const offer = X402.PaymentRequired.deserialize(response.headers.get('PAYMENT-REQUIRED'))
    expect(offer.accepts).toEqual([
      {
        scheme: 'exact',
        network: X402.Network.from(m.chainId),
        asset: m.till.usdc,
        amount: String(PRICE),
        payTo: m.till.router,
        maxTimeoutSeconds: 60,
        extra: { ...m.till.token, authorizationType: 'ReceiveWithAuthorization' },
      },
    ])
    expect(offer.extensions).toEqual({
      attributionToken: m.till.attributionToken,
      buyerAgentId: '7',
      setup_url: 'https://market.test/.well-known/referrer-agent',
    })
    const bare = await fetch(url, { headers: linked() })
    const { extensions } = X402.PaymentRequired.deserialize(bare.headers.get('PAYMENT-REQUIRED'))
    expect(Object.hasOwn(extensions, 'buyerAgentId')).toBe(false)
  })

  it('sells to the official client, and the purchase is attributed', async () => {
    const { url } = await shops[kind]()
    const { buyer, buyerAgentId } = agent
    const response = await clientOf(buyer).pay(url, { headers: linked(buyerAgentId) })
    expect([response.status, await response.json()]).toEqual([200, { thing: 1 }])
    expect(await escrowOf(response)).toMatchObject({
      payer: buyer.address,
      price: PRICE,
      merchantId: m.merchant.merchantId,
      reviewId: m.reviewer.reviewId,
      reviewerAgentId: m.reviewer.agentId,
      buyerAgentId,
    })
  })

  it('takes a payment that names its link, with no header repeated', async () => {
    const { url } = await shops[kind]()
    const buyer = await m.newBuyer()
    const body = await m.payload(buyer, {
      salt: Attribution.randomSecret(),
      requirements: { maxTimeoutSeconds: 60, extra: await extraAt(url) },
    })
    const signature = X402.encodeHeader(body.paymentPayload, 'standard')
    const response = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': signature } })
    expect(response.status).toBe(200)
    expect(await escrowOf(response)).toMatchObject({ payer: buyer.address, buyerAgentId: maxUint256 })
  })

  it('takes link, buyer and salt from the headers where a strict client dropped the extensions', async () => {
    const { url } = await shops[kind]()
    const { buyer, buyerAgentId } = agent
    const salt = Attribution.randomSecret()
    const { paymentPayload } = await m.payload(buyer, {
      salt,
      buyerAgentId: String(buyerAgentId),
      requirements: { maxTimeoutSeconds: 60, extra: await extraAt(url) },
    })
    const { extensions: _, ...strict } = paymentPayload
    const headers = { 'PAYMENT-SIGNATURE': X402.encodeHeader(strict, 'standard'), ...linked(buyerAgentId) }
    const refused = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': headers['PAYMENT-SIGNATURE'] } })
    expect(refused.status).toBe(402)
    const response = await fetch(url, { headers: { ...headers, 'X-Referrer-Attribution-Salt': salt } })
    expect(response.status).toBe(200)
    expect(await escrowOf(response)).toMatchObject({ payer: buyer.address, buyerAgentId })
  })

  it('serves a payment once, however many copies of it come together', async () => {
    const shop = await shops[kind]()
    const client = clientOf(await m.newBuyer())
    const body = await m.payload(await m.newBuyer(), {
      requirements: { maxTimeoutSeconds: 60, extra: await extraAt(shop.url) },
    })
    const signature = X402.encodeHeader(body.paymentPayload, 'standard')
    const copies = await Promise.all(
      Array.from({ length: 6 }, () => fetch(shop.url, { headers: { 'PAYMENT-SIGNATURE': signature } })),
    )
    expect(copies.filter(({ status }) => status === 200)).toHaveLength(1)
    expect((await client.pay(shop.url, { headers: linked() })).status).toBe(200)
    const again = await fetch(shop.url, { headers: { 'PAYMENT-SIGNATURE': client.sent.signature } })
    expect(again.status).toBe(402)
  })

  it("refuses a link to another merchant's product, which would pay that merchant", async () => {
    const shop = await shops[kind]({ merchantId: m.merchant.merchantId + 1n })
    const response = await clientOf(await m.newBuyer()).pay(shop.url, { headers: linked() })
    expect(response.status).toBe(402)
    expect(shop.served).toBe(0)
    const { error } = X402.PaymentRequired.deserialize(response.headers.get('PAYMENT-REQUIRED'))
    expect(error).toMatch(/^invalid_payment: the ref link leads to another merchant's product/)
  })
})

async function extraAt(url: string) {
  const offer = await fetch(url, { headers: linked() })
  return X402.PaymentRequired.deserialize(offer.headers.get('PAYMENT-REQUIRED')).accepts[0].extra
}

it('a shop that does not hear what became of a payment answers 502, and serves the same payment when it comes again', async () => {
  let isLost = true
  const shop = await shops.hono({
    async fetch(input, init) {
      const answer = await fetch(input, init)
      if (isLost && String(input).includes('/settle')) throw new TypeError('fetch failed')
      return answer
    },
  })
  const client = clientOf(await m.newBuyer())
  const lost = await client.pay(shop.url, { headers: linked() })
  expect(lost.status).toBe(502)
  expect((await lost.json()).error).toContain('send the same PAYMENT-SIGNATURE again')
  isLost = false
  const again = { headers: { 'PAYMENT-SIGNATURE': client.sent.signature } }
  const served = await fetch(shop.url, again)
  expect(served.status).toBe(200)
  expect(await escrowOf(served)).toMatchObject({ price: PRICE })
  expect((await fetch(shop.url, again)).status).toBe(402)
})

it('a shop adds the official extensions to its route: bazaar, offers and receipts, sign-in', async () => {
  const shop: OfficialShop = { url: '', served: 0, events: [] }
  const { server, route } = resourceServer(shop, {})
  const listener = createServer()
  shop.url = await listen(listener)
  const signer = privateKeyToAccount(generatePrivateKey())
  const issuer = createEIP712OfferReceiptIssuer(`did:pkh:eip155:1:${signer.address}`, (typed) =>
    signer.signTypedData(typed),
  )
  server
    .registerExtension(bazaarResourceServerExtension)
    .registerExtension(createOfferReceiptExtension(issuer))
    .registerExtension(
      createSIWxResourceServerExtension({
        storage: new InMemorySIWxStorage(),
        origin: new URL(shop.url).origin,
      }),
    )
  const extensions = {
    ...route.extensions,
    ...declareDiscoveryExtension({ input: { topic: 'cats' } }),
    ...declareOfferReceiptExtension({ includeTxHash: true }),
    ...declareSIWxExtension({ expirationSeconds: 300 }),
  }
  const app = new Hono()
  app.use(honoMiddleware({ '/thing': { ...route, extensions } }, server))
  app.all('/thing', (context) => context.json({ thing: ++shop.served }))
  listener.on('request', getRequestListener(app.fetch, { overrideGlobalObjects: false }))

  const buyer = await m.newBuyer()
  const offered = await fetch(shop.url, { headers: linked() })
  const offer = X402.decodeHeader(offered.headers.get('PAYMENT-REQUIRED')) as PaymentRequired
  expect(validateDiscoveryExtension(offer.extensions?.bazaar as never)).toEqual({ valid: true })
  expect(extractOffersFromPaymentRequired(offer)).toHaveLength(1)
  expect(offer.extensions).toMatchObject({ attributionToken: m.till.attributionToken })

  const response = await clientOf(buyer).pay(shop.url, { headers: linked() })
  expect(response.status).toBe(200)
  expect(await escrowOf(response)).toMatchObject({ payer: buyer.address, reviewId: m.reviewer.reviewId })
  const receipt = extractReceiptFromResponse(response)
  expect((await verifyReceiptSignatureEIP712(receipt as never)).signer).toBe(signer.address)

  const back = await wrapFetchWithSIWx(fetch, buyer)(shop.url)
  expect([back.status, await back.json()]).toEqual([200, { thing: 2 }])
})

describe('at a facilitator that wants signed settlements', () => {
  let strict: Awaited<ReturnType<TestFacilitator['startAnother']>>
  beforeAll(async () => {
    strict = await m.startAnother({ SETTLEMENT_AUTH: 'required' })
  })
  afterAll(() => strict?.stop())

  it('a shop with a key that may settle for it sells', async () => {
    const signingKey = privateKeyOf(m.merchant.account)
    const shop = await shops.hono({ facilitatorUrl: strict.url, signingKey })
    const response = await clientOf(await m.newBuyer()).pay(shop.url, { headers: linked() })
    expect([response.status, await response.json()]).toEqual([200, { thing: 1 }])
  })

  it.each([
    ['without a key', undefined],
    ['with a key that may not settle for it', generatePrivateKey()],
  ])('a shop %s answers 502, serves nothing, and is told why', async (_, signingKey) => {
    const shop = await shops.hono({ facilitatorUrl: strict.url, ...(signingKey && { signingKey }) })
    const buyer = privateKeyToAccount(generatePrivateKey())
    const response = await clientOf(buyer).pay(shop.url, { headers: linked() })
    expect(response.status).toBe(502)
    expect(shop.served).toBe(0)
    expect(shop.events).toMatchObject([
      { type: 'facilitator_refused', message: expect.stringMatching(signingKey ? / 403 / : / 401 /) },
    ])
  })
})
