// The catalogue for clients of x402 that know nothing of this market.
import type { Product } from '@referrer/contracts/local'
import { AttributionToken } from '@referrer/protocol'
import {
  declareDiscoveryExtension,
  validateDiscoveryExtension,
  validateDiscoveryExtensionSpec,
} from '@x402/extensions/bazaar'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { lockFollowing } from '../../src/derived/following/following.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { findsFirst, setProductRanks } from './discover-market.ts'
import { OTHER_CHAIN, PRICE, startProducts, type TestProducts } from './discover-products.ts'
import type { TestMarket } from './market.ts'
import { act } from './merchants.ts'

let sold: TestProducts
let m: TestMarket
let network: string

beforeAll(async () => {
  sold = await startProducts()
  ;({ m } = sold)
  network = `eip155:${m.chainId}`
})
afterAll(() => sold.close())

let clients = 0
/** Asks as a client that has not asked before. */
const ask = (path: string) => {
  clients += 1
  const client = `10.9.${(clients >> 8) & 255}.${clients & 255}`
  return m.call('GET', path, { headers: { 'x-forwarded-for': client } })
}
// biome-ignore lint/suspicious/noExplicitAny: tests look into it
type Json = any
const list = async (query = ''): Promise<Json> => (await ask(`/discovery/resources?${query}`)).body
/** A search may be too slow on a busy machine, and then says so. */
const search = (query: string): Promise<Json> =>
  until(async () => {
    const { body } = await ask(`/discovery/search?${query}`)
    return body.partialResults ? undefined : body
  }, 'the index to answer')
/** Longer than anything is cached. */
const later = () => {
  m.clock.aheadMs += 60_000
}

const isOf = ({ merchantId, productId }: Product, { metadata: { referrer } }: Json) =>
  referrer.productId === productId && referrer.merchantId === Number(merchantId)
const entryOf = async (product: Product): Promise<Json> => {
  const { items } = await list(`limit=100&network=${network}`)
  return items.find((item: Json) => isOf(product, item))
}

const offer = (more: object = {}) => ({
  scheme: 'exact',
  network,
  asset: m.market.addresses.USDC,
  amount: String(PRICE),
  payTo: m.market.addresses.SplitRouter,
  maxTimeoutSeconds: 60,
  extra: { name: 'USD Coin', version: '2', authorizationType: 'ReceiveWithAuthorization' },
  ...more,
})

/** The endpoint of the tides answers with this body, and is asked at once. */
async function tells(body: unknown): Promise<void> {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  sold.shop.answer = (_request, response) => response.writeHead(402).end(text)
  const asked = sold.shop.asked.length
  await m.sql`UPDATE market.offers SET ask_at = '-infinity' WHERE endpoint_url LIKE '%/tides'`
  await m.sql`UPDATE jobs.schedules SET next_run_at = now() WHERE name = 'refresh-offers'`
  await until(async () => {
    const [row] = await m.sql`
      SELECT FROM market.offers WHERE endpoint_url LIKE '%/tides' AND ask_at > '-infinity' AND seen_at >= asked_at`
    return sold.shop.asked.length > asked && row !== undefined
  }, 'the endpoint to be asked')
  later()
}

describe('GET /discovery/resources', () => {
  it('lists every open product of every chain, once, page by page', async () => {
    const all = await list('limit=100')
    expect(all).toMatchObject({ x402Version: 2, pagination: { limit: 100, offset: 0, total: 26 } })
    expect(all.items).toHaveLength(26)
    const paged: Json[] = []
    for (let offset = 0; offset < 26; offset += 7) {
      const { items, pagination } = await list(`limit=7&offset=${offset}`)
      expect(pagination).toEqual({ limit: 7, offset, total: 26 })
      paged.push(...items)
    }
    expect(paged).toEqual(all.items)
    expect((await list('offset=26')).items).toEqual([])
    expect((await list('offset=9007199254740991')).items).toEqual([])
    expect((await list()).items).toHaveLength(20)
  })

  it('is sorted by rank, and stays as it is while somebody reads it', async () => {
    const ranks = ({ items }: Json) => items.map((item: Json) => item.metadata.referrer.productRank)
    later()
    const [before, during] = await m.atOnce(async () => {
      const read = await list(`limit=100&network=${network}`)
      await setProductRanks(m, [[sold.bread, 0.99]])
      return [read, await list(`limit=100&network=${network}`)]
    })
    expect(ranks(before)).toEqual(ranks(before).toSorted((a: number, b: number) => b - a))
    expect(
      during.items.map(({ resource, metadata }: Json) => [resource, metadata.referrer.productId]),
    ).toEqual(before.items.map(({ resource, metadata }: Json) => [resource, metadata.referrer.productId]))
    later()
    expect(isOf(sold.bread, (await list(`network=${network}`)).items[0])).toBe(true)
    await setProductRanks(m, [[sold.bread, 0.5]])
    later()
  })

  it('has what is open alone, and finds it by the wallet that its sales are paid out to', async () => {
    const { merchant } = m.market.accounts
    const wallet = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed'
    const total = async (query = '') => {
      later()
      return (await list(`network=${network}&${query}`)).pagination.total
    }
    const { merchantId, productId } = sold.bread
    expect(await total(`payTo=${wallet}`)).toBe(0)
    await act(m, merchant, 'setPayoutWallet', merchantId, wallet)
    await act(m, merchant, 'setProductActive', merchantId, productId, false)
    await until(async () => (await total(`payTo=${wallet}`)) === 24, 'the closed product to leave')
    expect(await total()).toBe(24)
    expect(await entryOf(sold.bread)).toBeUndefined()
    await act(m, merchant, 'setProductActive', merchantId, productId, true)
    await until(async () => (await total()) === 25, 'the product to come back')
  })

  it('can be filtered by all that the official client names', async () => {
    const totals = async (...queries: string[]) =>
      Promise.all(queries.map(async (query) => (await list(query)).pagination.total))
    expect(await totals('type=http', 'scheme=exact', 'extensions=bazaar')).toEqual([26, 26, 26])
    expect(await totals('type=mcp', 'scheme=upto', 'extensions=other')).toEqual([0, 0, 0])
    expect(await totals(`network=${network}`, `network=eip155:${OTHER_CHAIN}`)).toEqual([25, 1])
    expect(await totals('network=base', 'network=eip155:1')).toEqual([0, 0])
    expect(await totals(`chain_id=${OTHER_CHAIN}`)).toEqual([1])
    const { SplitRouter } = m.market.addresses
    const { merchant, buyer } = m.market.accounts
    expect(
      await totals(
        `network=${network}&payTo=${SplitRouter}`,
        `network=${network}&payTo=${SplitRouter.toLowerCase()}`,
        `network=${network}&payTo=${merchant.address}`,
        `payTo=${buyer.address}`,
      ),
    ).toEqual([25, 25, 25, 0])
  })

  it.each([
    ['limit=x', 'invalid limit'],
    ['offset=1.5', 'invalid offset'],
    ['payTo=0x12', 'invalid payTo'],
    ['chain_id=5', 'chain_id not configured'],
  ])('refuses %s', async (query, error) => {
    expect(await ask(`/discovery/resources?${query}`)).toMatchObject({ status: 400, body: { error } })
  })

  it('names how a product was offered, whose it is, its ranks, and the link of the review that is shown first', async () => {
    await tells({ x402Version: 2, accepts: [offer()], resource: { mimeType: 'application/json' } })
    const entry = await entryOf(sold.tides)
    const { products } = (await findsFirst(m, 'intent=tide', sold.tides)).body
    const [first] = products[0].reviews
    expect(entry).toMatchObject({
      resource: expect.stringMatching(/\/tides$/),
      type: 'http',
      x402Version: 2,
      accepts: [offer()],
      mimeType: 'application/json',
      description: 'When the sea rises and falls at every harbour',
      metadata: {
        name: 'Tide tables',
        category: 'data',
        referrer: {
          chainId: m.chainId,
          merchantId: Number(sold.tides.merchantId),
          productId: sold.tides.productId,
          reviews: 3,
          merchantRank: null,
          refLink: first.ref_link,
        },
      },
    })
    expect(Date.parse(entry.lastUpdated)).toBeGreaterThan(0)
    const token = entry.extensions.bazaar.info.input.headers['X-Referrer-Token']
    expect(first.ref_link.endsWith(`/r/${token}`)).toBe(true)
    expect(AttributionToken.decodeUnverified(token)).toMatchObject({
      reviewId: first.on_chain_id,
      merchantEndpoint: entry.resource,
    })
    expect(validateDiscoveryExtension(entry.extensions.bazaar)).toEqual({ valid: true })
  })

  it('has no link and no header for a product without reviews, and no offer where none was seen', async () => {
    const { accepts, extensions, metadata } = await entryOf(sold.bread)
    expect([accepts, metadata.referrer.refLink, metadata.referrer.reviews]).toEqual([[], null, 0])
    expect(extensions.bazaar.info).toEqual({ input: { type: 'http', method: 'GET' } })
    expect(validateDiscoveryExtension(extensions.bazaar)).toEqual({ valid: true })
    expect(validateDiscoveryExtensionSpec(extensions.bazaar)).toEqual({ valid: true })
  })

  it('shows what the seller declares, with our link in it, and both stay valid', async () => {
    const declared = declareDiscoveryExtension({
      input: { harbour: 'Ostia' },
      inputSchema: { properties: { harbour: { type: 'string' } }, required: ['harbour'] },
      output: { example: { high: '07:00' } },
    })
    await tells({
      x402Version: 2,
      accepts: [offer()],
      resource: { description: 'Of the sea' },
      extensions: declared,
    })
    const { description, extensions, metadata } = await entryOf(sold.tides)
    expect(description).toBe('Of the sea')
    expect(extensions.bazaar.info).toEqual({
      input: {
        type: 'http',
        method: 'GET',
        queryParams: { harbour: 'Ostia' },
        headers: { 'X-Referrer-Token': metadata.referrer.refLink.split('/').at(-1) },
      },
      output: { type: 'json', example: { high: '07:00' } },
    })
    expect(extensions.bazaar.schema.properties.input.properties).toMatchObject({
      queryParams: { properties: { harbour: { type: 'string' } }, required: ['harbour'] },
      headers: { type: 'object', properties: { 'X-Referrer-Token': { type: 'string' } } },
    })
    expect(validateDiscoveryExtension(extensions.bazaar)).toEqual({ valid: true })
    expect(validateDiscoveryExtensionSpec(extensions.bazaar)).toEqual({ valid: true })
  })

  it('does not let a seller choose the link, nor be paid past the split router', async () => {
    const headers = { 'x-referrer-token': 'mine', 'X-Referrer-Buyer-Agent-Id': '7' }
    const bazaar = { info: { input: { type: 'http', method: 'GET', headers } }, schema: { type: 'object' } }
    const payTo = m.market.accounts.merchant.address
    await tells({ x402Version: 2, accepts: [offer({ payTo })], extensions: { bazaar } })
    const { accepts, extensions, metadata } = await entryOf(sold.tides)
    expect(accepts).toEqual([])
    expect(extensions.bazaar.info.input.headers).toEqual({
      'X-Referrer-Token': metadata.referrer.refLink.split('/').at(-1),
    })
  })

  it.each<[string, () => unknown]>([
    ['is huge', () => ({ info: { input: { type: 'http' }, output: 'x'.repeat(100_000) }, schema: {} })],
    ['is of wrong types', () => ({ info: [7], schema: 'x' })],
    [
      'sets a prototype',
      () => JSON.parse('{"info":{"input":{"type":"http","__proto__":{"a":1}}},"schema":{}}'),
    ],
    ['cannot be stored', () => ({ info: { input: { type: 'http' }, output: '\0\ud800' }, schema: {} })],
  ])('is not changed for others, nor in its price, by a declaration that %s', async (_what, bazaar) => {
    await tells({ accepts: [offer({ amount: '77' })], extensions: { bazaar: bazaar() } })
    const { items } = await list(`limit=100&network=${network}`)
    expect(items).toHaveLength(25)
    const entry = items.find((item: Json) => isOf(sold.tides, item))
    expect(entry.accepts).toEqual([offer({ amount: '77' })])
    expect(entry.extensions.bazaar.info.input).toMatchObject({ type: 'http', method: 'GET' })
    expect(Object.keys(entry.extensions.bazaar.info)).toEqual(['input'])
  })

  it('does not show under an endpoint what another one told, as an earlier version beside this one leaves it', async () => {
    await tells({
      x402Version: 2,
      accepts: [offer()],
      resource: { description: 'Of the sea', mimeType: 'text/html' },
    })
    const { merchantId, productId } = sold.tides
    const key = m.sql`
      chain_id = ${m.chainId} AND merchant_id = ${merchantId} AND product_id = ${Buffer.from(productId.slice(2), 'hex')}`
    const [{ url }] = await m.sql<
      [{ url: string }]
    >`SELECT endpoint_url AS url FROM market.products WHERE ${key}`
    const moveTo = (to: string) =>
      m.sql.begin(async (tx) => {
        await tx`UPDATE market.products SET endpoint_url = ${to} WHERE ${key}`
        await tx`UPDATE market.offers SET endpoint_url = ${to}, ask_at = 'infinity' WHERE ${key}`
      })
    // Followers would bring the two tables together, and forget what was told.
    await m.sql.begin(async (tx) => {
      await lockFollowing(tx, m.chainId)
      await moveTo(`${url}/new`)
      const { resource, accepts, description, mimeType } = await entryOf(sold.tides)
      expect([resource, accepts, mimeType]).toEqual([`${url}/new`, [], undefined])
      expect(description).not.toBe('Of the sea')
      await moveTo(url)
      expect(await entryOf(sold.tides)).toMatchObject({ accepts: [offer()], description: 'Of the sea' })
    })
  })

  it('is not changed for others by a declaration that is nested without end', async () => {
    const endless = '['.repeat(50_000) + ']'.repeat(50_000)
    await tells(
      JSON.stringify({ accepts: [offer({ amount: '78' })], extensions: { bazaar: '?' } }).replace(
        '"?"',
        endless,
      ),
    )
    expect((await entryOf(sold.tides)).accepts).toEqual([offer({ amount: '78' })])
  })

  it('takes five requests a second of a client', async () => {
    const headers = { 'x-forwarded-for': '10.10.10.10' }
    const answers = await m.atOnce(() =>
      Promise.all(Array.from({ length: 12 }, () => m.call('GET', '/discovery/resources', { headers }))),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(5)
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(7)
  })
})

describe('GET /discovery/search', () => {
  const names = ({ resources }: Json) => resources.map(({ metadata }: Json) => metadata.name)

  it('finds what matches, best first, and nothing else', async () => {
    const found = await search('query=harbour')
    expect(found).toMatchObject({
      x402Version: 2,
      partialResults: false,
      pagination: { limit: 1, cursor: null },
    })
    expect(names(found)).toEqual(['Tide tables'])
    expect(found.resources[0]).toEqual(await entryOf(sold.tides))
    expect(new Set(names(await search('query=weather')))).toEqual(
      new Set(['Weather forecast', 'Weather archive', 'Weather buoy']),
    )
    expect((await search('query=xyzzy')).resources).toEqual([])
  })

  it('is read page by page', async () => {
    const seen: string[] = []
    let cursor: string | null = '0'
    for (let pages = 0; cursor !== null; pages += 1) {
      const page = await search(`query=sock&limit=8&cursor=${cursor}`)
      seen.push(...page.resources.map(({ metadata }: Json) => metadata.referrer.productId))
      cursor = page.pagination.cursor
      expect(pages).toBeLessThan(3)
    }
    expect(seen).toEqual(sold.socks.map(({ productId }) => productId))
    expect((await search('query=sock&cursor=9999')).resources).toEqual([])
  })

  it('can be filtered by all that the official client names', async () => {
    const counts = (...queries: string[]) =>
      Promise.all(queries.map(async (query) => (await search(`query=weather&${query}`)).resources.length))
    expect(await counts('type=http', 'type=mcp', 'scheme=upto', 'extensions=other')).toEqual([3, 0, 0, 0])
    expect(await counts(`network=${network}`, `chain_id=${OTHER_CHAIN}`, 'network=eip155:1')).toEqual([
      2, 1, 0,
    ])
    const { merchant, buyer } = m.market.accounts
    expect(await counts(`payTo=${merchant.address}`, `payTo=${buyer.address}`)).toEqual([3, 0])
    expect(await counts(`payTo=${m.market.addresses.SplitRouter}&network=${network}`)).toEqual([2])
  })

  it.each([
    ['', 'query is required'],
    ['query=', 'query is required'],
    ['query=x&cursor=-1', 'invalid cursor'],
    ['query=x&cursor=99999', 'invalid cursor'],
    ['query=x&limit=x', 'invalid limit'],
    ['query=x&payTo=me', 'invalid payTo'],
  ])('refuses %j', async (query, error) => {
    expect(await ask(`/discovery/search?${query}`)).toMatchObject({ status: 400, body: { error } })
  })

  it.each(['%00', '%20', 'a'.repeat(5_000), '%F0%9F%8C%8A', '__proto__'])(
    'takes the odd words %j',
    async (query) => {
      expect((await ask(`/discovery/search?query=${query}`)).status).toBe(200)
    },
  )
})
