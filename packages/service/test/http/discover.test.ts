// Parameters, results and the format of an answer. Nothing is embedded: words and ranks decide.
import type { Product } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { type Service, startService } from '../../src/app/service.ts'
import { type Answer, callerOf, must, sessionOf } from './caller.ts'
import { ask, findsFirst, found, idsOf, setProductRanks } from './discover-market.ts'
import { OTHER_CHAIN, PRICE, startProducts, type TestProducts } from './discover-products.ts'
import { NO_WORK, type TestMarket } from './market.ts'

let sold: TestProducts
let m: TestMarket

beforeAll(async () => {
  sold = await startProducts()
  ;({ m } = sold)
})
afterAll(() => sold.close())

const refusal = (status: number, error: string) => ({ status, body: { error } })

/** The entry of a product in an answer. */
const entryOf = ({ body }: Answer, { productId }: Product) =>
  body.products.find(({ product_id }: { product_id: string }) => product_id === productId)

describe('a question', () => {
  it('needs no credentials, and is answered with what it names first [DISC-01, DISC-03]', async () => {
    await findsFirst(m, 'intent=forecast', sold.weather)
    await findsFirst(m, 'intent=harbour', sold.tides)
    expect(await m.call('GET', '/v1/discover?intent=tide')).toMatchObject({ status: 200 })
  })

  it('is one of words, of misspelt ones too, and of what reviews say', async () => {
    await findsFirst(m, 'intent=when%20does%20the%20sea%20rise%3F', sold.tides)
    await findsFirst(m, 'intent=wether%20forcast', sold.weather)
    await findsFirst(m, 'intent=right%20to%20the%20minute', sold.tides)
  })

  it.each([
    ['DISC-04', ''],
    ['DISC-04', 'category=data&max_products=3'],
    ['DISC-05', 'intent='],
    ['DISC-05', 'intent=&max_products=abc'],
  ])('without an intent is refused [%s]: %s', async (_rule, query) => {
    expect(await ask(m, query)).toMatchObject(refusal(400, 'intent is required'))
  })

  it('of a chain that is not served is refused [DISC-17]', async () => {
    expect(await ask(m, 'intent=tide&chain_id=999999999')).toMatchObject(
      refusal(400, 'chain_id not configured'),
    )
  })

  it.each(['abc', '1.5', '0x5', '1e1', '%205', '99999999999999999999'])(
    'for %s products is refused [LIM-06]',
    async (number) => {
      expect(await ask(m, `intent=tide&max_products=${number}`)).toMatchObject(
        refusal(400, 'invalid max_products'),
      )
    },
  )

  it('is answered from its own chain [DISC-27]', async () => {
    const there = await found(m, `intent=weather&max_products=20&chain_id=${OTHER_CHAIN}`)
    expect(there.body.products).toHaveLength(1)
    expect(there.body.products[0]).toMatchObject({ chain_id: OTHER_CHAIN, name: 'Weather buoy' })
    const here = await found(m, 'intent=weather%20buoy&max_products=20')
    expect(here.body.products.map(({ name }: { name: string }) => name)).not.toContain('Weather buoy')
    expect(here.body.products.length).toBeGreaterThan(1)
    for (const { chain_id } of here.body.products) expect(chain_id).toBe(m.chainId)
  })

  it('of stop words, signs, odd letters or great length is answered as any other', async () => {
    const intents = [
      'the of and to',
      ' ',
      '\n\t\u3000',
      '\0',
      'tide\0table',
      '!?-–—…',
      '🌊',
      '👩‍👩‍👧‍👦'.repeat(150),
      '潮汐表',
      'прилив',
      'جدول المد',
      'TIDE',
      'ﬁne tïde',
      `${'ͤ'.repeat(1_500)}x`,
      'tide '.repeat(2_000),
      'a'.repeat(12_000),
      "'; DROP TABLE market.products; --",
      '%_\\',
      '<script>alert(1)</script>',
      'NaN',
      '__proto__ constructor toString',
    ]
    for (const intent of intents) {
      const { status, body } = await ask(m, `intent=${encodeURIComponent(intent)}`)
      expect([intent.slice(0, 20), status, body.products.length]).toEqual([intent.slice(0, 20), 200, 5])
    }
    for (const raw of ['%FF%FE', '%ED%A0%80', 'a&intent=b', 'tide&chain_id=']) {
      expect((await ask(m, `intent=${raw}`)).status).toBeLessThan(500)
    }
  })

  it('counts up to its thousandth character', async () => {
    const filler = '. '.repeat(498)
    expect((await findsFirst(m, `intent=${filler}tide`, sold.tides)).status).toBe(200)
    const { body } = await ask(m, `intent=${filler}${filler}tide`)
    expect(body.products).toHaveLength(5)
    for (const { sub_scores } of body.products) expect(sub_scores.intent_match).toBe(0)
  })

  it('has the same answer, byte by byte, however often it is asked', async () => {
    const query = 'intent=weather%20and%20tides&include_all=true&max_products=20'
    const { text } = await found(m, query)
    for (let again = 0; again < 20; again += 1) expect((await found(m, query)).text).toBe(text)
  })
})

describe('how many products', () => {
  it.each([
    ['nothing is said', '', 5, 'DISC-09'],
    ['it is 0', '&max_products=0', 5, 'DISC-10'],
    ['it is negative', '&max_products=-3', 5, 'DISC-10'],
    ['it is 21', '&max_products=21', 5, 'DISC-11'],
    ['it is a million', '&max_products=1000000', 5, 'DISC-11'],
    ['it is 1', '&max_products=1', 1, 'DISC-12'],
    ['it is 7', '&max_products=7', 7, 'DISC-12'],
    ['it is 20', '&max_products=20', 20, 'DISC-12'],
  ])('when %s: %s gives %i [%s]', async (_when, query, count) => {
    const { body } = await found(m, `intent=sock%20pattern${query}`)
    expect(idsOf(body)).toEqual(sold.socks.slice(0, count).map(({ productId }) => productId))
  })

  it('is made up for by those of the best ranks when fewer are found', async () => {
    const { body } = await findsFirst(m, 'intent=bread&max_products=20', sold.bread)
    const matches = body.products.map(
      ({ sub_scores }: never) => (sub_scores as { intent_match: number }).intent_match,
    )
    expect(matches).toHaveLength(20)
    expect(matches.slice(1)).toEqual(Array(19).fill(0))
  })
})

describe('a category', () => {
  it.each([
    ['data', () => [sold.tides, sold.weather]],
    ['data feeds', () => [sold.archive]],
    ['knitting', () => sold.socks.slice(0, 20)],
  ])('`%s` is asked for exactly [DISC-06]', async (category, products) => {
    const query = `intent=weather%20or%20socks&max_products=20&category=${encodeURIComponent(category)}`
    const { body } = await found(m, query)
    const ids = products().map(({ productId }) => productId)
    expect(idsOf(body).toSorted()).toEqual(ids.toSorted())
    for (const product of body.products) expect(product.category).toBe(category)
  })

  it.each(['dat', 'Data', 'DATA', 'data%20', '%20data', 'data%25', 'd_ta', 'nonexistent', '%00'])(
    'that no product has leaves nothing: `%s` [DISC-06, DISC-20]',
    async (category) => {
      const { status, body } = await ask(m, `intent=weather&category=${category}`)
      expect([status, body]).toEqual([200, { products: [], coverage: 'thin' }])
    },
  )
})

describe('a price ceiling', () => {
  const under = async (intent: string, ceiling: number | bigint) =>
    idsOf((await ask(m, `intent=${intent}&max_products=20&price_ceiling=${ceiling}`)).body)

  it('leaves out what costs more, and nothing that costs as much [DISC-07]', async () => {
    expect(await under('tide', PRICE)).toContain(sold.tides.productId)
    expect(await under('tide', PRICE + 1)).toContain(sold.tides.productId)
    expect(await under('tide', PRICE - 1)).not.toContain(sold.tides.productId)
    expect(await under('tide', 0)).not.toContain(sold.tides.productId)
  })

  it('leaves out what cannot be had for less, though its price is not known [DISC-07]', async () => {
    expect(await under('archive', 3_000)).toContain(sold.archive.productId)
    expect(await under('archive', 2_999)).not.toContain(sold.archive.productId)
  })

  it('does not leave out what has no known price', async () => {
    expect(await under('forecast', 0)).toContain(sold.weather.productId)
  })

  it.each(['abc', '-1', '1.5', '1e3', '0x1', '', '%20', '5USDC', '9'.repeat(30), '1&price_ceiling=2'])(
    'that is no amount is not looked at: `%s` [DISC-08, LIM-05]',
    async (ceiling) => {
      const query = 'intent=tide%20archive&max_products=20'
      const { status, text } = await found(m, `${query}&price_ceiling=${ceiling}`)
      expect(status).toBe(200)
      expect(text).toBe((await found(m, query)).text)
    },
  )
})

describe('an answer', () => {
  const PRODUCT = [
    'merchant_id',
    'chain_id',
    'product_id',
    'name',
    'product_score',
    'sub_scores',
    'review_count',
  ]

  it('has products, and says that they have few reviews when they have fewer than three [DISC-19, DISC-22]', async () => {
    for (const [query, first] of [
      ['intent=forecast&max_products=1', sold.weather],
      ['intent=bread&max_products=1', sold.bread],
    ] as const) {
      const { body } = await findsFirst(m, query, first)
      expect(Object.keys(body)).toEqual(['products', 'coverage'])
      expect(body.coverage).toBe('thin')
      expect(body.products).toHaveLength(1)
    }
  })

  it('says nothing of coverage when there are three [DISC-19, DISC-23]', async () => {
    const { body } = await findsFirst(m, 'intent=tide&max_products=1', sold.tides)
    expect(Object.keys(body)).toEqual(['products'])
    const two = await findsFirst(m, 'intent=forecast&category=data', sold.weather)
    expect(two.body.products.map(({ review_count }: { review_count: number }) => review_count)).toEqual([
      2, 3,
    ])
    expect(two.body).not.toHaveProperty('coverage')
  })

  it('has products in the order of their scores, best first [DISC-21, DISC-30, DISC-31, DISC-32, RANK-25]', async () => {
    const { body } = await findsFirst(m, 'intent=weather%20forecast&max_products=20', sold.weather)
    const scores: number[] = body.products.map(
      ({ product_score }: { product_score: number }) => product_score,
    )
    expect(scores).toEqual(scores.toSorted((a, b) => b - a))
    expect(new Set(scores).size).toBeGreaterThan(2)
    for (const { product_score, sub_scores } of body.products) {
      const { intent_match, product_rank } = sub_scores
      expect(Object.keys(sub_scores)).toEqual(['intent_match', 'product_rank'])
      expect(product_rank).toBe(0.5)
      expect(intent_match).toBeGreaterThanOrEqual(0)
      expect(intent_match).toBeLessThanOrEqual(1)
      expect(product_score).toBeCloseTo(0.7 * intent_match + 0.3 * product_rank, 12)
    }
  })

  it('by ranks alone has ranks for scores', async () => {
    const { body } = await ask(m, 'intent=zxqj&max_products=20')
    expect(body.products).toHaveLength(20)
    for (const { product_score, sub_scores } of body.products) {
      expect([product_score, sub_scores]).toEqual([0.5, { intent_match: 0, product_rank: 0.5 }])
    }
  })

  it('tells of a product what is known of it [DISC-26, DISC-27, DISC-28, DISC-29, DISC-33, DISC-34, DISC-37]', async () => {
    const product = entryOf(await findsFirst(m, 'intent=tide', sold.tides), sold.tides)
    expect(new Set(Object.keys(product))).toEqual(new Set([...PRODUCT, 'price_usdc', 'category', 'reviews']))
    expect(product).toMatchObject({
      merchant_id: 0,
      chain_id: m.chainId,
      product_id: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      name: 'Tide tables',
      price_usdc: PRICE,
      review_count: 3,
      category: 'data',
    })
    expect(product.product_id).toBe(sold.tides.productId)
    expect(product.reviews).toHaveLength(3)
  })

  it('leaves out what is not: price, category, mean rank of authors [DISC-33, DISC-35, DISC-36]', async () => {
    const product = entryOf(await findsFirst(m, 'intent=bread', sold.bread), sold.bread)
    expect(new Set(Object.keys(product))).toEqual(new Set([...PRODUCT, 'reviews']))
    const reviewed = entryOf(await findsFirst(m, 'intent=forecast', sold.weather), sold.weather)
    expect(new Set(Object.keys(reviewed))).toEqual(new Set([...PRODUCT, 'category', 'reviews']))
  })

  it('has products without reviews, which are null [DISC-37, DISC-38, DISC-39]', async () => {
    const { body } = await findsFirst(m, 'intent=bread&max_products=1', sold.bread)
    expect(body.products).toMatchObject([
      { product_id: sold.bread.productId, review_count: 0, reviews: null },
    ])
  })

  it('has checklists of the categories that it shows, where somebody wrote them [DISC-19, DISC-24, DISC-25]', async () => {
    const token = await sessionOf(m.call, m.market.accounts.admin)
    const lists = { data: ['Is it fresh?', 'Who measured it?'], 'data feeds': ['Since when?'] }
    const path = (category: string) => `/admin/checklists/${encodeURIComponent(category)}`
    for (const [category, items] of Object.entries(lists)) {
      await must(m.call('PUT', path(category), { token, body: { items } }))
    }
    try {
      const { body } = await findsFirst(m, 'intent=forecast&category=data', sold.weather)
      expect(Object.keys(body)).toEqual(['products', 'checklists'])
      expect(body.checklists).toEqual({ data: lists.data })
      const both = await found(m, 'intent=weather&max_products=3')
      expect(both.body.checklists).toEqual(lists)
      expect((await found(m, 'intent=sock')).body).not.toHaveProperty('checklists')
    } finally {
      for (const category of Object.keys(lists)) await must(m.call('DELETE', path(category), { token }))
    }
    expect((await found(m, 'intent=forecast&category=data')).body).not.toHaveProperty('checklists')
  })

  it('has no relevance of reviews where nothing is embedded [DISC-55]', async () => {
    const { reviews } = entryOf(await findsFirst(m, 'intent=tide', sold.tides), sold.tides)
    expect(reviews.length).toBeGreaterThan(0)
    for (const { relevance } of reviews) expect(relevance).toBe(0)
  })

  it('is 500 when the records cannot be read [DISC-18]', async () => {
    await m.withoutTable('market.checklists', async () => {
      expect(await ask(m, 'intent=tide')).toMatchObject(refusal(500, 'internal error'))
    })
    await findsFirst(m, 'intent=tide', sold.tides)
  })

  it('has the better-ranked of two that are equally meant first, and of equals the lower id [DISC-58, RANK-25]', async () => {
    const [first, second, third, fourth, last] = sold.socks as [Product, Product, Product, Product, Product]
    await setProductRanks(m, [
      [first, 0.25],
      [last, 0.75],
    ])
    const { body } = await findsFirst(m, 'intent=sock&max_products=20', last)
    const [best, next] = body.products
    expect(best.sub_scores).toEqual({ ...next.sub_scores, product_rank: 0.75 })
    const inOrder = [last, second, third, fourth].map(({ productId }) => productId)
    expect(idsOf(body).slice(0, 4)).toEqual(inOrder)
    // The lowest-ranked of 21 identical products is not among 20.
    expect(idsOf(body)).not.toContain(first.productId)
  })
})

describe('the limits', () => {
  const BURST = 30
  let limited: Service
  /** A clock that stands still. */
  let nowMs = Date.now()

  beforeAll(async () => {
    const { rpcUrl } = m.chains[0]?.chain ?? {}
    const config = readConfig({
      DATABASE_URL: m.databaseUrl,
      PORT: '0',
      LOG_LEVEL: 'silent',
      EMBEDDER: 'off',
      TRUSTED_PROXIES: '127.0.0.1',
      RATE_LIMIT_PER_SECOND: '50',
      RATE_LIMIT_BURST: String(BURST),
      LIMITS: 'memory',
      CHAINS: JSON.stringify([
        { chainId: m.chainId, rpcUrls: [rpcUrl], contracts: m.market.addresses, startBlock: 0 },
      ]),
    })
    limited = await startService(config, { ...NO_WORK, clock: () => nowMs })
  })
  afterAll(() => limited.stop())

  const send = (client: string, path = '/v1/discover?intent=tide') =>
    callerOf(limited.url)('GET', path, { headers: { 'x-forwarded-for': client } })

  async function passes(client: string, count: number, path?: string): Promise<number> {
    const answers = await Promise.all(Array.from({ length: count }, () => send(client, path)))
    return answers.filter(({ status }) => status === 200).length
  }

  const isLimited = (answer: Answer) => {
    expect(answer).toMatchObject(refusal(429, 'rate limited'))
    expect(Object.keys(answer.body)).toEqual(['error'])
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }

  it('are five questions a second for a client [DISC-59, DISC-60]', async () => {
    expect(await passes('192.0.2.1', 20)).toBe(5)
    const answer = await send('192.0.2.1')
    isLimited(answer)
    nowMs += Number(answer.headers.get('retry-after')) * 1_000
    expect(await passes('192.0.2.1', 20)).toBe(5)
    nowMs += 200
    expect(await passes('192.0.2.1', 3)).toBe(1)
  })

  it('are of a client alone, and of its questions, good or bad [DISC-59, DISC-62]', async () => {
    for (let sent = 0; sent < 5; sent += 1) {
      expect((await send('192.0.2.2', '/v1/discover')).status).toBe(400)
    }
    isLimited(await send('192.0.2.2'))
    expect((await send('192.0.2.3')).status).toBe(200)
    expect((await send('192.0.2.2', '/v1/stats/mean-rank')).status).toBe(200)
  })

  it('are those of all routes too, and read the same [DISC-61, DISC-63, LIM-02]', async () => {
    expect(await passes('192.0.2.4', BURST, '/v1/stats/mean-rank')).toBe(BURST)
    const global = await send('192.0.2.4')
    isLimited(global)
    expect(await passes('192.0.2.5', 5)).toBe(5)
    const own = await send('192.0.2.5')
    isLimited(own)
    expect(own.text).toBe(global.text)
  })
})
