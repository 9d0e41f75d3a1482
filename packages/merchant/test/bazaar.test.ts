// Buyers and sellers that know x402 and nothing of this market: shops on official middleware are found and bought from with official clients.
// The service, the facilitator, the chain and the databases are real.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { escrowDeposits, mintUsdc, type Product, registerIdentity } from '@referrer/contracts/local'
import { X402 } from '@referrer/protocol'
import { HTTPFacilitatorClient } from '@x402/core/server'
import { ExactEvmScheme as ClientScheme } from '@x402/evm'
import { ExactEvmScheme as ServerScheme } from '@x402/evm/exact/server'
import { paymentMiddleware as expressMiddleware } from '@x402/express'
import {
  bazaarResourceServerExtension,
  type DiscoveryResource,
  declareDiscoveryExtension,
  validateDiscoveryExtension,
  withBazaar,
} from '@x402/extensions/bazaar'
import { decodePaymentResponseHeader, wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { paymentMiddleware as honoMiddleware, x402ResourceServer } from '@x402/hono'
import express from 'express'
import { Hono } from 'hono'
import type { Hash } from 'viem'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type FacilitatorOfMarket, startFacilitatorOf } from '../../facilitator/test/of-market.ts'
import { until } from '../../service/src/machinery/workers/testing.ts'
import { describeProduct, sellAll, writeAll } from '../../service/test/http/discover-market.ts'
import { startTestMarket, type TestMarket } from '../../service/test/http/market.ts'
import { openRecorded } from '../../service/test/http/merchants.ts'
import { createPaymentMemory, createReferralEndpoint, type MarketConfig } from '../src/index.ts'
import { officialReferral } from '../src/x402.ts'

const PRICE = 1_000_000n

let m: TestMarket
let facilitator: FacilitatorOfMarket
const servers: Server[] = []
let products: { hono: Product; express: Product; ours: Product; unreviewed: Product }
let reviewerAgentId: bigint

beforeAll(async () => {
  m = await startTestMarket({ keepsTime: true, env: { ALLOW_PRIVATE_HOSTS: 'true' } })
  const [chain] = m.chains
  if (!chain) throw new Error('there is a chain')
  facilitator = await startFacilitatorOf(chain, m.service.url)
  await sell()
  await mintUsdc(m.market, m.market.accounts.buyer.address, 100n * PRICE)
}, 240_000)
afterAll(async () => {
  for (const server of servers) {
    server.close()
    server.closeAllConnections()
  }
  await facilitator?.close()
  await m?.close()
})

async function listen(server: Server, path: string): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`
}

const configOf = ({ merchantId, productId }: Product): MarketConfig => ({
  chainId: m.chainId,
  rpcUrl: m.chains[0]?.chain.rpcUrl ?? '',
  addressRegistry: m.market.addresses.AddressRegistry,
  facilitatorUrl: facilitator.url,
  setupUrl: `${m.service.url}/.well-known/referrer-agent`,
  merchantId,
  product: { id: productId },
  payments: createPaymentMemory(),
})

const DECLARED = declareDiscoveryExtension({
  input: { city: 'Rome' },
  inputSchema: { properties: { city: { type: 'string' } }, required: ['city'] },
  output: { example: { degrees: 21 } },
})

function official(product: Product) {
  const referral = officialReferral(configOf(product))
  const server = new x402ResourceServer(referral.facilitator).register(referral.network, new ServerScheme())
  for (const extension of [...referral.extensions, bazaarResourceServerExtension])
    server.registerExtension(extension)
  const route = referral.route(PRICE)
  return {
    server,
    route: {
      ...route,
      description: 'The weather of a city',
      extensions: { ...route.extensions, ...DECLARED },
    },
  }
}

const shops = {
  async hono(product: Product) {
    const { server, route } = official(product)
    const app = new Hono()
    app.use(honoMiddleware({ '/weather': route }, server))
    app.get('/weather', (context) => context.json({ city: context.req.query('city') }))
    return listen(createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false })), '/weather')
  },
  async express(product: Product) {
    const { server, route } = official(product)
    const app = express()
    app.use(expressMiddleware({ '/rain': route }, server))
    app.get('/rain', (request, response) => void response.json({ city: request.query.city }))
    return listen(createServer(app), '/rain')
  },
  async ours(product: Product) {
    const endpoint = createReferralEndpoint({
      ...configOf(product),
      price: PRICE,
      serve: () => ({ joke: 'Knock' }),
    })
    return listen(createServer(getRequestListener(endpoint.fetch, { overrideGlobalObjects: false })), '/joke')
  },
}

/** Four products, of which three have a review. */
async function sell(): Promise<void> {
  const { market } = m
  const { reviewer } = market.accounts
  const names = ['Weather of a city', 'Rain of a city', 'Jokes', 'Silence']
  const about = names.map((name) => ({ name }))
  const [hono, express, ours, unreviewed] = (await sellAll(m, await openRecorded(m), about)) as Product[]
  if (!hono || !express || !ours || !unreviewed) throw new Error('four are sold')
  products = { hono, express, ours, unreviewed }
  const kinds = [
    [hono, shops.hono],
    [express, shops.express],
    [ours, shops.ours],
    [unreviewed, shops.ours],
  ] as const
  for (const [at, [product, open]] of kinds.entries()) {
    await describeProduct(m, product, { name: names[at] ?? '', endpoint: await open(product) })
  }
  reviewerAgentId = await registerIdentity(market, reviewer)
  const author = { owner: reviewer, agentId: reviewerAgentId }
  for (const product of [hono, express, ours]) await writeAll(m, product, [[author, 5]])
}

const bazaar = () => withBazaar(new HTTPFacilitatorClient({ url: facilitator.url })).extensions.bazaar

type Listed = DiscoveryResource & {
  metadata: { referrer: { productId: string; refLink: string | null } }
  extensions: {
    bazaar: {
      info: {
        input: { method: string; headers?: Record<string, string>; queryParams?: Record<string, string> }
      }
    }
  }
}

/** Everything in the catalogue, once all endpoints have been asked. */
const listed = () =>
  until(async () => {
    // Further than what is told is kept for.
    m.clock.aheadMs += 60_000
    const { items } = await bazaar().listResources({ limit: 100 })
    const links = (items as Listed[]).filter(({ metadata }) => metadata.referrer.refLink !== null)
    return links.length === 3 && items.every(({ accepts }) => accepts.length > 0)
      ? (items as Listed[])
      : undefined
  }, 'the catalogue to be complete')

const entryOf = async ({ productId }: Product): Promise<Listed> => {
  const entry = (await listed()).find(({ metadata }) => metadata.referrer.productId === productId)
  if (!entry) throw new Error('it is not in the catalogue')
  return entry
}

/** Calls a resource as it is declared, and pays, with the official client and nothing else. */
async function buy({ resource, extensions }: Listed): Promise<Response> {
  const { method, headers = {}, queryParams = {} } = extensions.bazaar.info.input
  const network = X402.Network.from(m.chainId)
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network, client: new ClientScheme(m.market.accounts.buyer) }],
    spendControls: false,
  })
  const url = new URL(resource)
  for (const [name, value] of Object.entries(queryParams)) url.searchParams.set(name, value)
  return pay(url.href, { method, headers })
}

it('the official client lists every open product at the facilitator, with the offer of its shop', async () => {
  const items = await listed()
  expect(new Set(items.map(({ metadata }) => metadata.referrer.productId))).toEqual(
    new Set(Object.values(products).map(({ productId }) => productId)),
  )
  for (const { resource, accepts, extensions } of items) {
    const response = await fetch(resource)
    const offer = X402.PaymentRequired.fromResponse({
      header: response.headers.get('PAYMENT-REQUIRED'),
      body: await response.json(),
    })
    expect(offer).toMatchObject({ accepts })
    expect(validateDiscoveryExtension(extensions.bazaar as never)).toEqual({ valid: true })
  }
})

it.each(['hono', 'express'] as const)(
  'a shop on the official %s middleware is picked up with what it declares',
  async (kind) => {
    const { description, extensions } = await entryOf(products[kind])
    expect(description).toBe('The weather of a city')
    expect(extensions.bazaar).toMatchObject({
      info: {
        input: { type: 'http', method: 'GET', queryParams: { city: 'Rome' } },
        output: { example: { degrees: 21 } },
      },
      schema: { properties: { input: { properties: { queryParams: { required: ['city'] } } } } },
    })
  },
)

it('the official client finds what it searches for', async () => {
  const entry = await entryOf(products.hono)
  const { resources } = await until(async () => {
    m.clock.aheadMs += 60_000
    const found = await bazaar().search({ query: 'what is the weather?' })
    return found.resources.some(({ resource }) => resource === entry.resource) ? found : undefined
  }, 'the products to be found')
  // The facilitator keeps each answer for seconds, in which hours go by on the clock of the service and the shop is asked again.
  const lastUpdated = expect.any(String)
  expect((resources as Listed[])[0]).toEqual({ ...(await entryOf(products.hono)), lastUpdated })
})

it.each(['hono', 'express', 'ours'] as const)(
  'what is found and called as declared is bought through a ref link: %s',
  async (kind) => {
    const entry = await entryOf(products[kind])
    const response = await buy(entry)
    expect(response.status, await response.clone().text()).toBe(200)
    if (kind !== 'ours') expect(await response.json()).toEqual({ city: 'Rome' })
    const receipt = decodePaymentResponseHeader(response.headers.get('PAYMENT-RESPONSE') ?? '')
    expect(receipt.success).toBe(true)
    const hash = receipt.transaction as Hash
    const [escrow] = escrowDeposits(await m.market.client.getTransactionReceipt({ hash }))
    expect(escrow).toMatchObject({
      payer: m.market.accounts.buyer.address,
      price: PRICE,
      merchantId: products[kind].merchantId,
      reviewerAgentId,
    })
  },
)

it('what has no review has no link, and cannot be bought before it has one', async () => {
  const entry = await entryOf(products.unreviewed)
  expect([entry.metadata.referrer.refLink, entry.extensions.bazaar.info.input.headers]).toEqual([
    null,
    undefined,
  ])
  expect((await buy(entry)).status).toBe(402)
})
