import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listProduct, openMerchant, registerIdentity, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { getAddress, type Hex, type LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { callerOf } from './caller.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act, unauthorized } from './merchants.ts'

const PATH = '/v1/merchant/product/readiness'
const OTHER = '0x000000000000000000000000000000000000dEaD'

let m: TestMarket
let merchant: LocalAccount
let router: Hex
/** The merchant's endpoint: answers with `reply` (as JSON unless it is text) and records its requests. */
let shop: Server
let resource: string
let reply: { status: number; body: unknown; header?: string }
let probes: IncomingMessage[]

beforeAll(async () => {
  // No prices are refreshed: only readiness checks may call the shop.
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' }, overrides: NO_WORK })
  merchant = m.market.accounts.merchant
  router = m.market.addresses.SplitRouter
  // Routes refuse merchant 0, so the merchant of these tests is another one.
  await registerIdentity(m.market, merchant)
  shop = createServer((request, response) => {
    probes.push(request)
    const { status, body, header } = reply
    if (header !== undefined) response.setHeader('PAYMENT-REQUIRED', header)
    response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  resource = `http://127.0.0.1:${portOf(shop)}/buy?item=1`
})
afterAll(async () => {
  shop.close()
  await m.close()
})
beforeEach(() => {
  probes = []
  reply = { status: 402, body: selling() }
})

const portOf = (server: Server) => (server.address() as AddressInfo).port
const accepts = (payTo: unknown) => ({
  scheme: 'exact',
  network: `eip155:${m.chainId}`,
  asset: m.market.addresses.USDC,
  amount: '1000000',
  payTo,
  maxTimeoutSeconds: 60,
  extra: SANDBOX_TOKEN,
})
/** The answer of an endpoint that sells through ref links. */
const selling = (more: object = {}) => ({
  x402Version: 2,
  accepts: [accepts(router)],
  extensions: { attributionToken: 'as it came', setup_url: 'https://market.test/' },
  ...more,
})

const post = (path: string, body: unknown, as = merchant, call = m.call) =>
  call('POST', path, { as, body, timestamp: Math.floor((Date.now() + m.clock.aheadMs) / 1_000) })
/** Moves the clock by a second for each call, because of the rate limit. */
function ask(body: unknown, as = merchant, call = m.call) {
  m.clock.aheadMs += 1_000
  return post(PATH, body, as, call)
}
async function checksOf(status: number, body: unknown, header?: string) {
  reply = { status, body, ...(header !== undefined && { header }) }
  const answer = await ask({ resource })
  expect(answer.status).toBe(200)
  const { pass, checks } = answer.body as { pass: boolean; checks: { name: string; ok: boolean }[] }
  return { pass, ...Object.fromEntries(checks.map(({ name, ok }) => [name, ok])) }
}
const ALL_OK = { pass: true, returns_402: true, payto_is_splitrouter: true, echoes_attribution: true }

describe('POST /v1/merchant/product/readiness', () => {
  it('needs a signature [MERCH-37]', async () => {
    expect(await m.call('POST', PATH, { body: { resource } })).toMatchObject(unauthorized)
    expect(probes).toEqual([])
    expect((await ask({ resource })).status).toBe(200)
  })

  it('needs nothing but the address, and tells three checks of an endpoint that answers [MERCH-38, MERCH-39, MERCH-40, MERCH-52 otherwise]', async () => {
    const { status, body } = await ask({ resource })
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual(['checks', 'pass'])
    expect(body.pass).toBe(true)
    expect(body.checks.map(({ name, ok }: { name: string; ok: boolean }) => [name, ok])).toEqual([
      ['returns_402', true],
      ['payto_is_splitrouter', true],
      ['echoes_attribution', true],
    ])
    for (const { name: _name, ok: _ok, ...rest } of body.checks)
      expect(rest).toEqual('detail' in rest ? { detail: expect.any(String) } : {})
  })

  it('refuses a body without an address of the web', async () => {
    for (const body of [{}, { resource: 7 }, { resource: '' }, { resource: 'ftp://shop.example/' }, '{']) {
      const answer = await ask(body)
      expect([answer.status, answer.body], JSON.stringify(body)).toEqual([
        400,
        { error: 'invalid request', detail: expect.any(String) },
      ])
    }
  })

  it('passes only when all three checks are ok [MERCH-41, MERCH-42, MERCH-48]', async () => {
    expect(await checksOf(402, selling())).toEqual(ALL_OK)
    const failing = { ...ALL_OK, pass: false }
    expect(await checksOf(200, selling())).toEqual({ ...failing, returns_402: false })
    expect(await checksOf(402, selling({ accepts: [accepts(OTHER)] }))).toEqual({
      ...failing,
      payto_is_splitrouter: false,
    })
    expect(await checksOf(402, selling({ extensions: { setup_url: 'x' } }))).toEqual({
      ...failing,
      echoes_attribution: false,
    })
  })

  it.each([
    '<html>',
    '"text"',
    [],
    null,
    { accepts: { payTo: 1 }, extensions: ['attributionToken'] },
    { accepts: [null] },
  ])('finds nothing in %j [MERCH-41]', async (body) => {
    expect(await checksOf(402, body)).toEqual({
      pass: false,
      returns_402: true,
      payto_is_splitrouter: false,
      echoes_attribution: false,
    })
  })

  it('reads the offer from the header where the body makes none, as official middleware answers [MERCH-41]', async () => {
    const inHeader = (more: object = {}) => Buffer.from(JSON.stringify(selling(more))).toString('base64')
    expect(await checksOf(402, {}, inHeader())).toEqual(ALL_OK)
    expect(await checksOf(402, '', inHeader())).toEqual(ALL_OK)
    expect(await checksOf(402, {}, inHeader({ accepts: [accepts(OTHER)], extensions: {} }))).toEqual({
      pass: false,
      returns_402: true,
      payto_is_splitrouter: false,
      echoes_attribution: false,
    })
  })

  it('goes by the body where both make an offer, and by the body where the header is none', async () => {
    const elsewhere = Buffer.from(JSON.stringify(selling({ accepts: [accepts(OTHER)] }))).toString('base64')
    for (const header of [elsewhere, '', '%%', 'A'.repeat(7_000)])
      expect(await checksOf(402, selling(), header), header.slice(0, 9)).toEqual(ALL_OK)
  })

  it('tells the status that it saw [MERCH-42, MERCH-43]', async () => {
    for (const status of [200, 401, 402, 404, 500]) {
      reply.status = status
      const [check] = (await ask({ resource })).body.checks
      expect(check).toEqual({ name: 'returns_402', ok: status === 402, detail: `status ${status}` })
    }
  })

  it('follows no redirect [MERCH-42]', async () => {
    const elsewhere = createServer((_request, response) =>
      response.writeHead(302, { location: resource }).end(),
    ).listen(0, '127.0.0.1')
    await once(elsewhere, 'listening')
    const { body } = await ask({ resource: `http://127.0.0.1:${portOf(elsewhere)}/` })
    elsewhere.close()
    expect(body.checks[0]).toMatchObject({ ok: false, detail: expect.stringContaining('302') })
    expect(probes).toEqual([])
  })

  it('finds the router at the top or in any offer, whatever its case [MERCH-44, MERCH-45]', async () => {
    const lower = router.toLowerCase()
    const found = [
      { payTo: router, accepts: [] },
      { payTo: lower, accepts: undefined },
      { payTo: OTHER, accepts: [accepts(router)] },
      { accepts: [accepts(OTHER), accepts(router)] },
      { accepts: [accepts(OTHER), accepts(undefined), accepts(lower)] },
    ]
    for (const body of found) expect(await checksOf(402, selling(body)), JSON.stringify(body)).toEqual(ALL_OK)
    const missed = [
      { payTo: OTHER, accepts: [] },
      { accepts: [accepts(OTHER), accepts(`${router}0`)] },
      { accepts: [accepts([router])] },
      { accepts: [], pay_to: router },
    ]
    for (const body of missed)
      expect(await checksOf(402, selling(body)), JSON.stringify(body)).toMatchObject({
        pass: false,
        payto_is_splitrouter: false,
      })
  })

  it('names the router that it expects and nothing that the endpoint named [MERCH-46]', async () => {
    for (const payTo of [OTHER, router]) {
      reply.body = selling({ payTo, accepts: [accepts(payTo)] })
      const { text, body } = await ask({ resource })
      expect(body.checks[1]).toEqual({
        name: 'payto_is_splitrouter',
        ok: payTo === router,
        detail: getAddress(router),
      })
      expect(text.toLowerCase()).not.toContain(OTHER.slice(2).toLowerCase())
    }
  })

  it('takes any value of attributionToken for an echo, but it has to be there [MERCH-47, MERCH-48]', async () => {
    for (const attributionToken of ['', 'x', null, 0])
      expect(await checksOf(402, selling({ extensions: { attributionToken } }))).toEqual(ALL_OK)
    for (const extensions of [{}, undefined, null, 'attributionToken', { AttributionToken: 'x' }])
      expect(await checksOf(402, selling({ extensions }))).toMatchObject({
        pass: false,
        echoes_attribution: false,
      })
    expect(await checksOf(402, selling({ extensions: undefined, attributionToken: 'x' }))).toMatchObject({
      echoes_attribution: false,
    })
  })

  it('asks once with GET and the same token each time, whoever wants to know [MERCH-49, MERCH-50]', async () => {
    await ask({ resource })
    await ask({ resource }, m.market.accounts.stranger)
    expect(probes.map(({ method, url }) => [method, url])).toEqual([
      ['GET', '/buy?item=1'],
      ['GET', '/buy?item=1'],
    ])
    const [first, second] = probes.map(({ headers }) => headers['x-referrer-token'])
    expect(first).toMatch(/^\S+$/)
    expect(second).toBe(first)
  })

  it('has one check of an endpoint that cannot be reached [MERCH-51]', async () => {
    const { status, body } = await ask({ resource: 'http://127.0.0.1:1/buy' })
    expect([status, body]).toEqual([
      200,
      { pass: false, checks: [{ name: 'reachable', ok: false, detail: 'connection refused' }] },
    ])
  })

  it('is the last step of a merchant that sells: identity, opening, product, description, endpoint [MERCH-01]', async () => {
    const merchantId = await registerIdentity(m.market, merchant)
    await act(m, merchant, 'setActive', merchantId, true)
    const merchant_id = Number(merchantId)
    expect((await post('/v1/merchant/register', { merchant_id })).status).toBe(201)
    const product = { merchantId, productId: productOf(1) }
    await listProduct(m.market, merchant, product)
    const described = await post('/v1/merchant/product', {
      merchant_id,
      product_id: product.productId,
      endpoint_url: resource,
      name: 'Weather',
      description: 'Of tomorrow',
      category: 'api',
    })
    expect(described.status).toBe(200)
    expect((await ask({ resource: described.body.endpoint_url })).body.pass).toBe(true)
    await m.indexed()
    const { body } = await m.call('GET', `/v1/merchant/${merchantId}`)
    expect(body).toMatchObject({ status: 'active', product_ids: [product.productId] })
  })
})

describe('where hosts on this machine are allowed', () => {
  it.each(['10.0.0.1', '192.168.1.1', '172.16.0.1', '169.254.169.254', '0.0.0.0', '[fd00::1]', '[fe80::1]'])(
    '%s, elsewhere in its networks, is not: neither asked nor taken for an endpoint [MERCH-53]',
    async (host) => {
      const url = `http://${host}:${portOf(shop)}/buy`
      const { status, body } = await ask({ resource: url })
      expect([status, body.error]).toEqual([400, 'host not allowed'])
      const merchantId = await openMerchant(m.market, merchant)
      const product = { merchantId, productId: productOf(77) }
      await listProduct(m.market, merchant, product)
      const described = await m.call('POST', '/v1/merchant/product', {
        as: merchant,
        body: { merchant_id: Number(merchantId), product_id: product.productId, endpoint_url: url },
      })
      expect([described.status, described.body.error]).toEqual([400, 'invalid request'])
    },
  )
})

describe('where private hosts are not allowed', () => {
  let guarded: Service
  const names: Record<string, string[]> = {
    'inside.test': ['127.0.0.1'],
    'office.test': ['10.1.2.3'],
    'both.test': ['93.184.215.14', '127.0.0.1'],
    'sixth.test': ['::1'],
    'nowhere.test': [],
    localhost: ['127.0.0.1'],
  }

  beforeAll(async () => {
    // Another replica of the same market.
    guarded = await startService(
      readConfig({
        DATABASE_URL: m.databaseUrl,
        PORT: '0',
        LOG_LEVEL: 'silent',
        CHAINS: JSON.stringify([
          {
            chainId: m.chainId,
            rpcUrls: m.chains.map(({ chain }) => chain.rpcUrl),
            contracts: m.market.addresses,
            startBlock: 0,
          },
        ]),
      }),
      {
        ...NO_WORK,
        clock: () => Date.now() + m.clock.aheadMs,
        lookup: async (host) => (names[host] ?? []).map((address) => ({ address, family: 4 })),
      },
    )
  })
  afterAll(() => guarded.stop())

  async function expectRefusal(host: string) {
    const body = { resource: `http://${host}:${portOf(shop)}/buy` }
    const answer = await ask(body, merchant, callerOf(guarded.url))
    expect([answer.status, answer.body], host).toEqual([
      400,
      { error: 'host not allowed', detail: expect.stringMatching(/^resource must have a host/) },
    ])
    expect(probes).toEqual([])
  }

  it('loopback hosts are refused and not asked [MERCH-52 otherwise]', async () => {
    for (const host of ['127.0.0.1', '127.8.9.10', 'localhost', '[::1]', '2130706433', '0x7f.1', '0.0.0.0'])
      await expectRefusal(host)
  })

  it('private and link-local hosts are refused and not asked [MERCH-53]', async () => {
    const hosts = ['10.0.0.1', '192.168.1.1', '172.16.0.1', '172.31.255.1', '169.254.169.254', '224.0.0.1']
    for (const host of [...hosts, '[fd00::1]', '[fe80::1]', '[::ffff:10.0.0.1]']) await expectRefusal(host)
  })

  it('names are refused that stand for such an address, among others too, or for none [MERCH-54 otherwise]', async () => {
    for (const host of Object.keys(names)) await expectRefusal(host)
  })
})
