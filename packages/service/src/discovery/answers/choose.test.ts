import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import type { Source } from '../source.ts'
import { first, numbersOf, productId, type SmallMarket, smallMarket, sourceOf } from './testing.ts'

let database: TestDatabase
let chainId = 0
let market: SmallMarket

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
/** Each test has a chain of its own. */
beforeEach(async () => {
  chainId += 1
  market = smallMarket(database.sql, chainId)
  await market.agent(1, 1)
})

describe('products', () => {
  it('are ordered by 0.7 × match + 0.3 × rank, with the rank that the records have now', async () => {
    await market.product(1, { rank: 0.1 })
    await market.product(2, { rank: 0.9 })
    await market.product(3, { rank: 0 })
    const answer = await market.ask(
      {
        source: sourceOf([
          [3, 0.8],
          [1, 0.7],
          [2, 0.6],
        ]),
      },
      { most: 3 },
    )
    expect(numbersOf(answer)).toEqual([2, 3, 1])
    expect(answer.products.map(({ product_score }) => product_score)).toEqual([
      0.7 * 0.6 + 0.3 * 0.9,
      0.7 * 0.8,
      0.7 * 0.7 + 0.3 * 0.1,
    ])
    expect(first(answer).sub_scores).toEqual({ intent_match: 0.6, product_rank: 0.9 })
  })

  it('that are equal come by merchant, then by id', async () => {
    await market.agent(2, 2)
    await market.product(1, { merchantId: 2 })
    for (const number of [5, 3, 4]) await market.product(number)
    expect(numbersOf(await market.ask())).toEqual([3, 4, 5, 1])
    expect(
      numbersOf(
        await market.ask(
          {
            source: sourceOf([
              [5, 0.5],
              [4, 0.5],
            ]),
          },
          { most: 2 },
        ),
      ),
    ).toEqual([4, 5])
  })

  it('are filled up with the best-ranked when few were found, and what was found stays', async () => {
    for (const number of [1, 2, 3, 4]) await market.product(number, { rank: number / 10 })
    const answer = await market.ask(
      {
        source: sourceOf([
          [1, 0.01],
          [2, 0.9],
        ]),
      },
      { most: 3 },
    )
    expect(numbersOf(answer)).toEqual([2, 4, 1])
    expect(answer.products.map(({ sub_scores }) => sub_scores.intent_match)).toEqual([0.9, 0, 0.01])
    expect(answer.products[1]?.product_score).toBe(0.3 * 0.4)
  })

  it.each([
    ['nothing is found', sourceOf([])],
    [
      'the source cannot tell',
      { embedderId: undefined, find: async () => undefined, explain: async () => undefined },
    ],
    ['all that is found is closed by now', sourceOf([[9, 1]])],
  ] satisfies [string, Source][])('go by rank alone when %s', async (_, source) => {
    await market.product(1, { rank: 0.2 })
    await market.product(2, { rank: 0.8 })
    await market.product(9, { rank: 1, isOpen: false })
    const answer = await market.ask({ source })
    expect(answer.products).toMatchObject([
      { product_score: 0.8, sub_scores: { intent_match: 0, product_rank: 0.8 } },
      { product_score: 0.2, sub_scores: { intent_match: 0, product_rank: 0.2 } },
    ])
  })

  it("that are closed take nobody's place, however many and well ranked they are", async () => {
    const { sql } = database
    await market.product(1, { rank: 0.2 })
    await sql`
      INSERT INTO market.products (chain_id, merchant_id, product_id, rank)
      SELECT ${chainId}, 1, decode(md5(n::text) || md5(n::text), 'hex'), 0.9 FROM generate_series(1, 1200) AS n`
    await sql`
      INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
      SELECT chain_id, merchant_id, product_id, false, 0, '{}', '' FROM market.products WHERE chain_id = ${chainId} AND rank = 0.9`
    expect(numbersOf(await market.ask())).toEqual([1])
  })

  it('are asked for with a few to spare, which take the places of those that are closed by now', async () => {
    for (const number of [1, 2, 3, 4]) await market.product(number, { isOpen: number > 2 })
    await market.product(5, { rank: 1 })
    const source = sourceOf([
      [1, 0.9],
      [2, 0.8],
      [3, 0.7],
      [4, 0.6],
    ])
    expect(numbersOf(await market.ask({ source }, { most: 2 }))).toEqual([3, 4])
  })

  it('that do not pass the filters by now are left out, whatever the source finds', async () => {
    await market.product(1, { category: 'api', price: 100 })
    await market.product(2, { category: 'API', price: 100 })
    await market.product(3, { category: 'api', price: 101 })
    await market.product(4, { category: 'api', leastPrice: 101 })
    await market.product(5, { category: 'api', leastPrice: 100 })
    // The last known price counts, not the lowest possible one.
    await market.product(6, { category: 'api', price: 100, leastPrice: 200 })
    const source = sourceOf([1, 2, 3, 4, 5, 6].map((number) => [number, 1 - number / 10]))
    const filters = { category: 'api', ceiling: 100 }
    expect(numbersOf(await market.ask({ source }, filters))).toEqual([1, 5, 6])
    expect(numbersOf(await market.ask({}, filters))).toEqual([1, 5, 6])
    expect(numbersOf(await market.ask({}, { ceiling: 0 }))).toEqual([])
    expect(numbersOf(await market.ask({}, { category: 'ap' }))).toEqual([])
  })

  it('have no price when the endpoint that asked for it is no longer theirs', async () => {
    await market.product(1, { price: 100 })
    expect(first(await market.ask())).toHaveProperty('price_usdc', 100)
    await database.sql`UPDATE market.products SET endpoint_url = 'https://other.test/' WHERE chain_id = ${chainId}`
    expect(first(await market.ask())).not.toHaveProperty('price_usdc')
  })

  it('of a category that no text can have are none', async () => {
    await market.product(1)
    expect(await market.ask({}, { category: 'a\0b' })).toEqual({ products: [], coverage: 'thin' })
  })

  it('show what they have and leave out what they have not', async () => {
    await market.product(1, { name: 'Say "hi"', category: 'api', price: 2 ** 40, reviewCount: 3 })
    await market.product(2, { name: '', rank: 0.1 })
    expect(await market.ask({ source: sourceOf([[1, 1]]) })).toEqual({
      products: [
        {
          merchant_id: 1,
          chain_id: chainId,
          product_id: `0x${productId(1).toString('hex')}`,
          name: 'Say "hi"',
          product_score: 0.7 + 0.3 * 0.5,
          sub_scores: { intent_match: 1, product_rank: 0.5 },
          price_usdc: 2 ** 40,
          review_count: 3,
          category: 'api',
          reviews: null,
        },
        {
          merchant_id: 1,
          chain_id: chainId,
          product_id: `0x${productId(2).toString('hex')}`,
          name: '',
          product_score: 0.3 * 0.1,
          sub_scores: { intent_match: 0, product_rank: 0.1 },
          review_count: 0,
          reviews: null,
        },
      ],
    })
  })
})

describe('coverage', () => {
  it('is thin while the products that are shown have fewer than three reviews together', async () => {
    await market.product(1, { reviewCount: 2 })
    expect(await market.ask()).toHaveProperty('coverage', 'thin')
    await market.product(2, { reviewCount: 1 })
    expect(await market.ask()).not.toHaveProperty('coverage')
    expect(await market.ask({}, { most: 1 })).toHaveProperty('coverage', 'thin')
  })
})

describe('checklists', () => {
  it('are those of the categories that are shown, by their names', async () => {
    const categories = ['__proto__', 'weather', 'maps', 'weather']
    for (const [at, category] of categories.entries()) await market.product(at + 1, { category })
    expect(await market.ask()).not.toHaveProperty('checklists')
    for (const category of ['__proto__', 'weather', 'of nothing'])
      await database.sql`
        INSERT INTO market.checklists (category, items, authored_by)
        VALUES (${category}, ${[category, 'Is it "quick"?']}::text[], ''::bytea)`
    const { checklists } = await market.ask()
    expect(Object.entries(checklists ?? {})).toEqual([
      ['__proto__', ['__proto__', 'Is it "quick"?']],
      ['weather', ['weather', 'Is it "quick"?']],
    ])
  })
})
