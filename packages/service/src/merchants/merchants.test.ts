import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { confirmed, listProduct, openMerchant, registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { productOf, startTestMarket, type TestMarket } from '../../test/http/market.ts'
import { LISTED_PRODUCT_IDS } from './operations.ts'

let m: TestMarket
let guarded: TestMarket

beforeAll(async () => {
  ;[m, guarded] = await Promise.all([
    startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' } }),
    startTestMarket(),
  ])
})
afterAll(() => Promise.all([m.close(), guarded.close()]))

const described = (merchantId: bigint, product: number, more: object = {}) => ({
  merchant_id: Number(merchantId),
  product_id: productOf(product),
  endpoint_url: 'https://shop.example/buy',
  name: 'Weather',
  description: 'Of tomorrow',
  category: 'api',
  ...more,
})

async function registered(market = m): Promise<bigint> {
  const { merchant } = market.market.accounts
  const merchantId = await openMerchant(market.market, merchant)
  const body = { merchant_id: Number(merchantId) }
  const answer = await market.call('POST', '/v1/merchant/register', { as: merchant, body })
  expect(answer.status).toBe(201)
  return merchantId
}

describe('registering', () => {
  it('of one merchant many times at once succeeds once', async () => {
    const { merchant } = m.market.accounts
    const merchantId = await openMerchant(m.market, merchant)
    const body = { merchant_id: Number(merchantId) }
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => m.call('POST', '/v1/merchant/register', { as: merchant, body })),
    )
    const [made, ...rest] = answers.toSorted((a, b) => a.status - b.status)
    expect(made).toMatchObject({
      status: 201,
      body: { merchant_id: Number(merchantId), owner_address: merchant.address },
    })
    for (const { status, body } of rest)
      expect([status, body]).toEqual([409, { error: 'merchant already registered' }])
  })

  it('of a merchant that is recorded and closed is a repetition', async () => {
    const { merchant } = m.market.accounts
    const merchantId = await registered()
    await setActive(merchantId, false)
    const body = { merchant_id: Number(merchantId) }
    expect(await m.call('POST', '/v1/merchant/register', { as: merchant, body })).toMatchObject({
      status: 409,
      body: { error: 'merchant already registered' },
    })
  })

  it('keeps the URI of the identity, but none that is too long for a list', async () => {
    const { merchant } = m.market.accounts
    const uris = ['https://shop.example/card\0', `data:,${'x'.repeat(8_192)}`]
    const records: unknown[] = []
    for (const uri of uris) {
      const merchantId = await registerIdentity(m.market, merchant, uri)
      await setActive(merchantId, true)
      const body = { merchant_id: Number(merchantId) }
      await m.call('POST', '/v1/merchant/register', { as: merchant, body })
      await m.indexed()
      records.push((await m.call('GET', `/v1/merchant/${merchantId}`)).body.metadata_uri)
    }
    expect(records).toEqual(['https://shop.example/card', undefined])
  })
})

async function setActive(merchantId: bigint, active: boolean): Promise<void> {
  const hash = await m.market.client.writeContract({
    account: m.market.accounts.merchant,
    address: m.market.addresses.MerchantRegistry,
    abi: merchantRegistryAbi,
    functionName: 'setActive',
    args: [merchantId, active],
  })
  await confirmed(m.market, hash)
}

describe('a record', () => {
  it('is closed and paid at its owner once the identity has changed hands', async () => {
    const { merchant, stranger } = m.market.accounts
    const merchantId = await registered()
    await m.indexed()
    const before = await m.call('GET', `/v1/merchant/${merchantId}`)
    expect(before.body).toMatchObject({ status: 'active', payout_wallet: merchant.address })
    const hash = await m.market.client.writeContract({
      account: merchant,
      address: m.market.addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'transferFrom',
      args: [merchant.address, stranger.address, merchantId],
    })
    await confirmed(m.market, hash)
    await m.indexed()
    const after = await m.call('GET', `/v1/merchant/${merchantId}`)
    expect(after.body).toMatchObject({
      status: 'inactive',
      owner_address: stranger.address,
      payout_wallet: stranger.address,
    })
  })

  it('shows all product ids alone and the first ones in a list', async () => {
    const merchantId = await registered()
    await m.indexed()
    const count = LISTED_PRODUCT_IDS + 5
    const products = Array.from({ length: count }, (_, at) => productOf(1_000 + at))
    await m.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`
        INSERT INTO chain.products
        SELECT ${m.chainId}, ${merchantId}, decode(lpad(to_hex(1000 + n), 64, '0'), 'hex'), 500, 0, 0, '', true, now()
        FROM generate_series(0, ${count - 1}::int) AS n`
    })
    const alone = await m.call('GET', `/v1/merchant/${merchantId}`)
    expect(alone.body.product_ids).toEqual(products)
    const { body } = await m.call('GET', '/v1/merchant?limit=500')
    const listed = body.merchants.find(
      ({ merchant_id }: { merchant_id: number }) => merchant_id === Number(merchantId),
    )
    expect(listed.product_ids).toEqual(products.slice(0, LISTED_PRODUCT_IDS))
  })
})

describe('describing a product', () => {
  it('does not wait for the records, and the indexer leaves the description alone', async () => {
    const { merchant } = m.market.accounts
    const merchantId = await registered()
    await m.indexed()
    m.nodes.only = 'eth_getLogs'
    try {
      await listProduct(
        m.market,
        merchant,
        { merchantId, productId: productOf(7) },
        { oneOff: true, cardUri: 'ipfs://card' },
      )
      const body = described(merchantId, 7)
      const early = await m.call('POST', '/v1/merchant/product', { as: merchant, body })
      expect(early.status).toBe(200)
      expect(early.body).toMatchObject({ name: 'Weather', product_type: 'One-off', commission_bps: 1_000 })
      expect(early.body).not.toHaveProperty('card_uri')
    } finally {
      m.nodes.only = undefined
    }
    await m.indexed()
    const { body } = await m.call(
      'GET',
      `/v1/merchant/product?merchant_id=${merchantId}&product_id=${productOf(7)}`,
    )
    expect(body).toMatchObject({
      name: 'Weather',
      category: 'api',
      product_type: 'One-off',
      card_uri: 'ipfs://card',
    })
  })

  it('answers with what was written, many times at once, and keeps one of them whole', async () => {
    const { merchant } = m.market.accounts
    const merchantId = await registered()
    await listProduct(m.market, merchant, { merchantId, productId: productOf(8) })
    await m.indexed()
    const bodies = Array.from({ length: 10 }, (_, at) =>
      described(merchantId, 8, { name: `Name ${at}`, endpoint_url: `https://shop.example/${at}` }),
    )
    const answers = await Promise.all(
      bodies.map((body) => m.call('POST', '/v1/merchant/product', { as: merchant, body })),
    )
    answers.forEach(({ status, body }, at) => {
      expect([status, body]).toMatchObject([200, bodies[at]])
    })
    const path = `/v1/merchant/product?merchant_id=${merchantId}&product_id=${productOf(8)}`
    const { body } = await m.call('GET', path)
    expect(answers.map((answer) => answer.body)).toContainEqual(body)
  })

  it('refuses a product that is not listed', async () => {
    const { merchant } = m.market.accounts
    const body = described(await registered(), 9)
    expect(await m.call('POST', '/v1/merchant/product', { as: merchant, body })).toMatchObject({
      status: 404,
      body: { error: 'product not found' },
    })
  })

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost/',
    'http://[::ffff:10.0.0.1]/',
    'https://a:b@shop.example/',
  ])('refuses the endpoint %s', async (endpoint_url) => {
    const { merchant } = guarded.market.accounts
    const body = described(0n, 1, { endpoint_url })
    expect(await guarded.call('POST', '/v1/merchant/product', { as: merchant, body })).toMatchObject({
      status: 400,
      body: { error: 'invalid request' },
    })
  })

  it('says nothing when the chain cannot tell who owns the merchant', async () => {
    const { merchant } = m.market.accounts
    const body = described(await registered(), 10)
    m.nodes.only = 'eth_call'
    try {
      expect(await m.call('POST', '/v1/merchant/product', { as: merchant, body })).toMatchObject({
        status: 500,
        body: { error: 'internal error' },
      })
    } finally {
      m.nodes.only = undefined
    }
  })
})

describe('readiness', () => {
  const servers: Server[] = []
  afterEach(() => {
    for (const server of servers.splice(0)) server.close()
    // A second for the limit on this route.
    m.clock.aheadMs += 1_000
  })

  async function serve(answer: RequestListener): Promise<string> {
    const server = createServer(answer).listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
  }
  const check = (resource: string, market = m) =>
    market.call('POST', '/v1/merchant/product/readiness', {
      as: market.market.accounts.merchant,
      body: { resource },
      timestamp: Math.floor((Date.now() + market.clock.aheadMs) / 1_000),
    })

  it('passes an endpoint that sells through the router', async () => {
    const router = m.market.addresses.SplitRouter
    const resource = await serve((_request, response) =>
      response.writeHead(402).end(
        JSON.stringify({
          accepts: [{ payTo: '0x1' }, { payTo: String(router).toLowerCase() }],
          extensions: { attributionToken: '' },
        }),
      ),
    )
    expect((await check(resource)).body).toEqual({
      pass: true,
      checks: [
        { name: 'returns_402', ok: true, detail: 'status 402' },
        { name: 'payto_is_splitrouter', ok: true, detail: router },
        { name: 'echoes_attribution', ok: true },
      ],
    })
  })

  it.each([
    '<html>',
    '[]',
    'null',
    '{"accepts":{"payTo":1},"extensions":["attributionToken"]}',
    '{"accepts":[null]}',
  ])('finds nothing in %s', async (text) => {
    const resource = await serve((_request, response) => response.writeHead(200).end(text))
    const { body } = await check(resource)
    expect(body.pass).toBe(false)
    expect(body.checks.map(({ ok }: { ok: boolean }) => ok)).toEqual([false, false, false])
  })

  it('says why an endpoint cannot be reached', async () => {
    const resource = await serve(() => {})
    for (const server of servers.splice(0)) server.close()
    const { status, body } = await check(resource)
    expect([status, body]).toEqual([
      200,
      { pass: false, checks: [{ name: 'reachable', ok: false, detail: 'connection refused' }] },
    ])
  })

  it('asks no host that is not public', async () => {
    let hits = 0
    const resource = await serve((_request, response) => {
      hits += 1
      response.end()
    })
    expect(await check(resource, guarded)).toMatchObject({ status: 400, body: { error: 'host not allowed' } })
    expect(hits).toBe(0)
  })
})
