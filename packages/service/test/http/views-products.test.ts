// What everybody may read about products and merchants: lists, categories, reviews with their authors, history, a summary.
import type { Product } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Answer, must } from './caller.ts'
import { vote } from './commitments.ts'
import { productOf } from './market.ts'
import { act, openRecorded } from './merchants.ts'
import {
  type BuyerReview,
  buyAndTell,
  buyThrough,
  FULL_PRICE,
  newcomer,
  newProduct,
  type Person,
  quiet,
  type Review,
  setFlag,
  startTown,
  support,
  type Town,
  tell,
  write,
} from './town.ts'

type Json = Record<string, unknown>

const CACHE_MS = 6_000
const LONG = 'é'.repeat(300)

let town: Town
let author: Person
let second: Person
let buyers: [Person, Person, Person]
/** Bought three times through the first of two reviews. */
let bought: Product
/** Open, closed, and of another merchant. */
let plain: Product
let closed: Product
let elsewhere: Product
let link: Review
let other: Review
let told: BuyerReview

async function get(path: string): Promise<Answer> {
  const { m } = town
  await quiet(m)
  m.clock.aheadMs += CACHE_MS
  return m.call('GET', path)
}

const queryOf = ({ merchantId, productId }: Product) => `merchant_id=${merchantId}&product_id=${productId}`
const today = () => new Date(town.m.call.clock()).toISOString().slice(0, 10)

async function describeProduct({ merchantId, productId }: Product, category: string, description = '') {
  const { m } = town
  await must(
    m.call('POST', '/v1/merchant/product', {
      as: m.market.accounts.merchant,
      body: {
        merchant_id: Number(merchantId),
        product_id: productId,
        endpoint_url: 'https://shop.test/buy',
        name: `Product ${Number(productId)}`,
        description,
        category,
      },
    }),
  )
}

beforeAll(async () => {
  town = await startTown()
  const { m } = town
  author = await newcomer(m)
  second = await newcomer(m)
  buyers = [await newcomer(m), await newcomer(m), await newcomer(m)]
  bought = await newProduct(town)
  plain = await newProduct(town)
  closed = await newProduct(town)
  elsewhere = await newProduct(town, { of: await openRecorded(m) })
  await act(m, m.market.accounts.merchant, 'setProductActive', closed.merchantId, closed.productId, false)
  await m.indexed()
  await describeProduct(bought, 'search', LONG)
  await describeProduct(plain, 'search')
  await describeProduct(closed, 'search')
  await describeProduct(elsewhere, 'weather')
  link = await write(m, author, bought)
  other = await write(m, second, bought)
  // The votes are for the review of the other author.
  const [teller, ...silent] = buyers
  for (const buyer of silent) await support(m, buyer, link, [other])
  const deposit = await buyThrough(m, teller, link)
  const ballot = { agentId: teller.agentId, escrowId: deposit.escrowId, votes: [other.internalId] }
  await must(vote(m, teller.owner, ballot))
  told = await tell(m, teller, deposit, 5)
})
afterAll(() => town.m.close())

describe('the list of products', () => {
  const idsOf = async (query = '') =>
    (await get(`/v1/product${query}`)).body.products.map(
      ({ product_id }: { product_id: string }) => product_id,
    )

  it('has the open ones, those of the highest rank first, then by id', async () => {
    expect(await idsOf()).toEqual([bought, plain, elsewhere].map(({ productId }) => productId))
  })

  it('shows each product in a few lines', async () => {
    const { m } = town
    await m.sql`UPDATE market.offers SET price = 250000 WHERE product_id = ${Buffer.from(bought.productId.slice(2), 'hex')}`
    const { body } = await get('/v1/product?limit=1')
    const whole = await must(m.call('GET', `/v1/merchant/product?${queryOf(bought)}`))
    const { cashback_bps: _, ...same } = whole
    expect(body).toEqual({
      products: [
        {
          ...same,
          description: `${LONG.slice(0, 279)}…`,
          price_usdc: 250_000,
          review_count: 3,
          sales_count: 3,
        },
      ],
      page: 1,
      limit: 1,
      has_more: true,
    })
    expect((await get('/v1/product?limit=1&page=2')).body.products[0]).not.toHaveProperty('price_usdc')
  })

  it('is that of a merchant, of a category, or of both', async () => {
    const of = `merchant_id=${town.merchantId}`
    expect(await idsOf(`?${of}`)).toEqual([bought.productId, plain.productId])
    expect(await idsOf('?category=weather')).toEqual([elsewhere.productId])
    expect(await idsOf(`?${of}&category=search`)).toEqual([bought.productId, plain.productId])
    expect(await idsOf(`?${of}&category=weather`)).toEqual([])
    expect(await idsOf('?merchant_id=424242')).toEqual([])
  })

  it('is one product, if it is open and of that merchant', async () => {
    expect(await idsOf(`?${queryOf(plain)}`)).toEqual([plain.productId])
    expect(await idsOf(`?${queryOf(closed)}`)).toEqual([])
    expect(await idsOf(`?${queryOf({ ...plain, merchantId: elsewhere.merchantId })}`)).toEqual([])
    expect(await idsOf(`?${queryOf(plain)}&category=weather`)).toEqual([])
    expect((await get(`/v1/product?product_id=${plain.productId}`)).body.error).toBe('invalid merchant_id')
    expect((await get(`/v1/product?merchant_id=${plain.merchantId}&product_id=0x12`)).body.error).toBe(
      'invalid product_id: must be 32-byte hex',
    )
  })

  it('is read page by page', async () => {
    expect(await idsOf('?limit=2')).toEqual([bought.productId, plain.productId])
    expect(await idsOf('?limit=2&page=2')).toEqual([elsewhere.productId])
    expect((await get('/v1/product?limit=2&page=2')).body).toMatchObject({
      page: 2,
      limit: 2,
      has_more: false,
    })
    expect((await get('/v1/product?page=9007199254740991')).body).toMatchObject({
      products: [],
      has_more: false,
    })
  })

  it('is refused for what is no merchant id and no category', async () => {
    const errorOf = async (query: string) => (await get(`/v1/product?${query}`)).body.error
    for (const given of ['-1', 'x', ''])
      expect(await errorOf(`merchant_id=${given}`)).toBe('invalid merchant_id')
    for (const given of ['', 'c'.repeat(65), '%00'])
      expect(await errorOf(`category=${given}`)).toBe('invalid category')
  })

  it('follows a product that is closed and opened again, and so do categories and figures', async () => {
    const { m, merchantId } = town
    const { merchant } = m.market.accounts
    const seen = async () => [
      (await idsOf('?category=search')).length,
      (await get('/v1/category')).body.categories,
      (await get('/v1/stats')).body.products,
    ]
    const both = [
      2,
      [
        { category: 'search', products: 2 },
        { category: 'weather', products: 1 },
      ],
      3,
    ]
    expect(await seen()).toEqual(both)
    await act(m, merchant, 'setProductActive', merchantId, plain.productId, false)
    expect(await seen()).toEqual([
      1,
      [
        { category: 'search', products: 1 },
        { category: 'weather', products: 1 },
      ],
      2,
    ])
    await act(m, merchant, 'setProductActive', merchantId, plain.productId, true)
    await describeProduct(plain, 'weather')
    expect(await seen()).toEqual([
      1,
      [
        { category: 'weather', products: 2 },
        { category: 'search', products: 1 },
      ],
      3,
    ])
    await act(m, merchant, 'setActive', merchantId, false)
    expect(await seen()).toEqual([0, [{ category: 'weather', products: 1 }], 1])
    await act(m, merchant, 'setActive', merchantId, true)
    await describeProduct(plain, 'search')
    expect(await seen()).toEqual(both)
  })
})

describe('the reviews of a product', () => {
  const read = (query = '', product = bought) => get(`/v1/product/reviews?${queryOf(product)}${query}`)
  const idsOf = ({ body }: Answer) =>
    body.reviews.map(({ internal_id }: { internal_id: number }) => internal_id)

  it('are those of the best authors first, then the newest', async () => {
    expect(idsOf(await read())).toEqual([other, told, link].map(({ internalId }) => internalId))
    await setFlag(town.m, second, 'flag')
    expect(idsOf(await read())).toEqual([told, link, other].map(({ internalId }) => internalId))
    await setFlag(town.m, second, 'unflag')
  })

  it('are the newest first when they are asked for so', async () => {
    const newest = [told, other, link].map(({ internalId }) => internalId)
    expect(idsOf(await read('&sort=newest'))).toEqual(newest)
    const pages = [await read('&sort=newest&limit=2'), await read('&sort=newest&limit=2&page=2')]
    expect(pages.flatMap(idsOf)).toEqual(newest)
    expect(pages.map(({ body }) => body.has_more)).toEqual([true, false])
    const byId = ({ body }: Answer) =>
      body.reviews.toSorted((a: Json, b: Json) => Number(a.internal_id) - Number(b.internal_id))
    expect(byId(await read('&sort=newest'))).toEqual(byId(await read('&sort=best')))
    expect(await read('&sort=worst')).toMatchObject({ status: 400, body: { error: 'invalid sort' } })
  })

  it('have their author, votes and sales beside them', async () => {
    const { m } = town
    const { body } = await read()
    const listed = await must(m.call('GET', `/v1/review?${queryOf(bought)}`))
    const byId = new Map(
      listed.reviews.map((review: { internal_id: number }) => [review.internal_id, review] as const),
    )
    const card = async ({ agentId }: Person) => (await get(`/v1/agent/${agentId}/card`)).body
    expect(body.reviews).toEqual([
      {
        ...(byId.get(other.internalId) as object),
        author: await card(second),
        votes: { count: 3, qualifying: 3 },
        sales_count: 0,
        is_buyer_review: false,
      },
      {
        ...(byId.get(told.internalId) as object),
        author: await card(buyers[0]),
        votes: { count: 0, qualifying: 0 },
        sales_count: 0,
        is_buyer_review: true,
      },
      {
        ...(byId.get(link.internalId) as object),
        author: await card(author),
        votes: { count: 0, qualifying: 0 },
        sales_count: 3,
        is_buyer_review: false,
      },
    ])
  })

  it('are read page by page', async () => {
    const all = idsOf(await read())
    const pages = [await read('&limit=1'), await read('&limit=1&page=2'), await read('&limit=1&page=3')]
    expect(pages.flatMap(idsOf)).toEqual(all)
    expect(pages.map(({ body }) => body.has_more)).toEqual([true, true, false])
  })

  it('are none of a product without reviews, open or closed, and refused of an unknown product', async () => {
    expect((await read('', closed)).body.reviews).toEqual([])
    const unknown = { ...bought, productId: productOf(424_242) }
    expect(await read('', unknown)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await get(`/v1/product/reviews?product_id=${bought.productId}`)).toMatchObject({
      status: 400,
      body: { error: 'invalid merchant_id' },
    })
    expect(await get(`/v1/product/reviews?merchant_id=${bought.merchantId}`)).toMatchObject({
      status: 400,
      body: { error: 'invalid product_id: must be 32-byte hex' },
    })
  })
})

describe('the newest reviews', () => {
  const read = (query = '') => get(`/v1/activity/reviews${query}`)

  it('are shown with their products, newest first', async () => {
    const { m } = town
    const { status, body } = await read()
    expect(status).toBe(200)
    const [newest, ...older] = (await must(m.call('GET', '/v1/review'))).reviews
    expect(body.has_more).toBe(false)
    expect(body.reviews.map(({ internal_id }: Json) => internal_id)).toEqual(
      [newest, ...older].map(({ internal_id }: Json) => internal_id),
    )
    expect(body.reviews[0]).toEqual({
      ...newest,
      votes: { count: 0, qualifying: 0 },
      sales_count: 0,
      product_name: `Product ${Number(bought.productId)}`,
      product_active: true,
    })
  })

  it('are read page by page, each before the last of the page before', async () => {
    const all = (await read()).body.reviews
    const first = (await read('?limit=2')).body
    expect(first).toEqual({ reviews: all.slice(0, 2), has_more: true })
    const rest = (await read(`?before=${first.reviews[1].internal_id}`)).body
    expect(rest).toEqual({ reviews: all.slice(2), has_more: false })
    expect((await read(`?before=${all.at(-1).internal_id}`)).body).toEqual({ reviews: [], has_more: false })
    expect(await read('?before=x')).toMatchObject({ status: 400, body: { error: 'invalid before' } })
  })

  it('tell when the product has closed', async () => {
    const { m, merchantId } = town
    const { merchant } = m.market.accounts
    await act(m, merchant, 'setProductActive', merchantId, bought.productId, false)
    await m.indexed()
    expect((await read()).body.reviews[0].product_active).toBe(false)
    await act(m, merchant, 'setProductActive', merchantId, bought.productId, true)
    await m.indexed()
    expect((await read()).body.reviews[0].product_active).toBe(true)
  })
})

describe('the history of a product', () => {
  const read = (product: Product) => get(`/v1/product/history?${queryOf(product)}`)
  const rankOf = async (product: Product) =>
    (await must(town.m.call('GET', `/v1/merchant/product?${queryOf(product)}`))).product_rank

  it('ends with the present rank and the number of its opinions', async () => {
    const { body } = await read(bought)
    const rank = await rankOf(bought)
    expect(rank).toBeGreaterThan(0.5)
    expect(body.points.at(-1)).toEqual({ day: today(), product_rank: rank, opinions: 1 })
    expect((await read(plain)).body).toEqual({
      points: [{ day: today(), product_rank: await rankOf(plain), opinions: 0 }],
      sales: [],
    })
  })

  it('has a point for each day on which the rank changed, as if the later opinions were not there yet', async () => {
    const { m } = town
    const product = await newProduct(town)
    const reviewed = await write(m, author, product)
    await buyAndTell(m, reviewed, [
      [buyers[0], 5],
      [buyers[1], 1],
      [buyers[2], 1],
    ])
    const day = (ago: number) => new Date(m.call.clock() - ago * 86_400_000).toISOString().slice(0, 10)
    const { body: before } = await read(product)
    // The opinions are moved into the past: two years, ten days and three days ago.
    await quiet(m)
    for (const [at, ago] of [700, 10, 3].entries()) {
      await m.sql`
        UPDATE market.opinions SET published_at = ${`${day(ago)}T12:00:00Z`}
        WHERE product_id = ${Buffer.from(product.productId.slice(2), 'hex')} AND internal_id = (
          SELECT internal_id FROM market.opinions WHERE product_id = ${Buffer.from(product.productId.slice(2), 'hex')}
          ORDER BY review_id OFFSET ${at} LIMIT 1)`
    }
    const { points } = (await read(product)).body
    expect(points.map(({ day, opinions }: { day: string; opinions: number }) => [day, opinions])).toEqual([
      [day(365), 1],
      [day(10), 2],
      [day(3), 3],
      [today(), 3],
    ])
    // The mean of the day, with the weight 5, and opinions of 1 and 0, each with the weight 0.5.
    const [{ mean }] = await m.sql<
      [{ mean: number }]
    >`SELECT mean / 1e6::float8 AS mean FROM market.opinion_totals`
    const rank = (opinions: number[]) =>
      (5 * mean + opinions.reduce((sum, one) => sum + one / 2, 0)) / (5 + opinions.length / 2)
    const ranks = points.map(({ product_rank }: { product_rank: number }) => product_rank)
    for (const [at, opinions] of [[1], [1, 0], [1, 0, 0], [1, 0, 0]].entries()) {
      expect(ranks[at]).toBeCloseTo(rank(opinions), 5)
    }
    expect(ranks.at(-1)).toBe(before.points.at(-1).product_rank)
  })

  it('has the sales of each day', async () => {
    const { sales } = (await read(bought)).body
    const total = (name: 'count' | 'revenue_usdc') =>
      sales.reduce((sum: number, day: Record<string, number>) => sum + (day[name] ?? 0), 0)
    expect(total('count')).toBe(3)
    expect(total('revenue_usdc')).toBe(3 * Number(FULL_PRICE))
    for (const { day } of sales) expect(day).toMatch(/^\d{4}-\d\d-\d\d$/)
  })

  it('is refused of an unknown product', async () => {
    expect(await read({ ...bought, productId: productOf(424_242) })).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
  })
})

describe('the summary of a merchant', () => {
  const read = (id: bigint | number | string) => get(`/v1/merchant/${id}/summary`)

  it('has the merchant and the figures of its trade', async () => {
    const { m, merchantId } = town
    const { status, body } = await read(merchantId)
    expect(status).toBe(200)
    const { merchant, ...figures } = body
    expect(merchant).toEqual(await must(m.call('GET', `/v1/merchant/${merchantId}`)))
    const ranks = await Promise.all(
      merchant.product_ids.map(
        async (productId: string) =>
          (
            await m.sql<[{ rank: number }]>`
            SELECT rank FROM market.products WHERE product_id = ${Buffer.from(productId.slice(2), 'hex')}`
          )[0].rank,
      ),
    )
    expect(figures).toEqual({
      products_total: merchant.product_ids.length,
      sales_count: 6,
      reviews_count: 7,
      product_rank_mean: expect.closeTo(ranks.reduce((sum, rank) => sum + rank, 0) / ranks.length, 9),
    })
  })

  it('has no mean rank without products', async () => {
    expect((await read(await openRecorded(town.m))).body).toMatchObject({
      products_total: 0,
      sales_count: 0,
      reviews_count: 0,
      product_rank_mean: null,
    })
  })

  it('is refused of an unknown merchant, and of what is no id', async () => {
    expect(await read(424_242)).toMatchObject({ status: 404, body: { error: 'not found' } })
    // An agent that is no merchant.
    expect(await read(0)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await read('x')).toMatchObject({ status: 400, body: { error: 'invalid merchant id' } })
  })
})
