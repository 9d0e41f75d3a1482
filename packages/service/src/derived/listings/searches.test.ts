import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { rebuildListings } from '../../app/commands/rebuild-listings.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { bytes32, type Product } from '../ranks/testing.ts'
import { searchedWords, searchesOf } from './searches.ts'
import { HEARD_IN_MONTH, LEAST_STANDING } from './searches-store.ts'
import { countStatements, createShops, type Shops } from './testing.ts'

const MILLION = 1_000_000
const MERCHANT = 900
const VERIFIED = 901
/** Agent n belongs to owner n. */
const [FIRST, SECOND, THIRD, FOURTH, FIFTH] = [1, 2, 3, 4, 5]
const BUYERS = [FIRST, SECOND, THIRD, FOURTH, FIFTH]

let database: TestDatabase
let chainId = 0
let s: Shops
let product: Product

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  s = createShops(database.sql, chainId)
  for (const number of [MERCHANT, ...BUYERS]) await s.agent(number, number)
  await s.open(MERCHANT, MERCHANT)
  product = await s.product(0, MERCHANT)
})

const searches = async (of = product) => (await s.listing(of))?.searches

interface Told {
  of?: Product
  /** Null: the review is about no purchase. */
  buyer?: number | null
}

/** Buys, and says in a review what was searched for. */
async function tell(author: number, words: string | undefined, { of = product, buyer = author }: Told = {}) {
  s.pass()
  const purchase = buyer === null ? undefined : await s.buy(of, buyer)
  const opinion = { size: MILLION, weight: MILLION }
  const written = purchase === undefined ? {} : { purchase, opinion }
  const id = await s.review(author, of, { hasText: false, ...written })
  await s.write(id, 'fine', words)
  return { id, purchase: purchase ?? 0 }
}

/** Turns standings on: the owners have these, in millionths, the others none. */
const stand = (owners: Record<number, number>) =>
  s.stand({ owners, shops: { [VERIFIED]: { standing: MILLION, isVerified: true } } })
const standAll = () => stand(Object.fromEntries(BUYERS.map((owner) => [owner, MILLION])))

describe('the words of a search', () => {
  const wordsOf = (searched_for: unknown) => searchedWords(JSON.stringify({ searched_for }))

  it('are those that distinguish products, each once, the first twelve', () => {
    expect(wordsOf('What is the WEATHER in Tōkyō, the weather')).toEqual(['weather', 'tōkyō'])
    const letters = [...'abcdefghijklmnop'].map((letter) => letter.repeat(3))
    expect(wordsOf(letters.join(' '))).toEqual(letters.slice(0, 12))
  })

  it.each([undefined, null, 7, 'ab', ' ab ', 'a'.repeat(201), ['weather'], { text: 'weather' }])(
    'are none in %j',
    (value) => {
      expect(wordsOf(value)).toEqual([])
    },
  )

  it('are none in a text that is no JSON', () => {
    expect(searchedWords('searched_for weather')).toEqual([])
  })

  it('are at most forty, those of most owners', () => {
    const all = Array.from({ length: 60 }, (_, at) => `word${at + 10}`)
    const by = (owner: string, words: string[]) => ({ owner, words, isTrusted: true })
    const made = searchesOf([by('a', all), by('b', ['word69', 'word68'])]).split(' ')
    expect(new Set(made).size).toBe(40)
    expect(made.slice(-4)).toEqual(['word68', 'word68', 'word69', 'word69'])
    expect(made).toContain('word47')
    expect(made).not.toContain('word48')
  })
})

describe('while standings are off', () => {
  it('words count that two owners searched by, three times at most', async () => {
    await tell(FIRST, 'hourly weather forecast')
    expect(await searches()).toBe('')
    await tell(SECOND, 'the weather of tomorrow, a forecast')
    expect(await searches()).toBe('forecast forecast weather weather')
    for (const author of [THIRD, FOURTH, FIFTH]) await tell(author, 'weather')
    expect(await searches()).toBe('forecast forecast weather weather weather')
  })

  it('an owner counts once, however many agents, purchases and reviews it has', async () => {
    for (const agent of [11, 12, 13]) {
      await s.agent(agent, FIRST)
      await tell(agent, 'casino')
      await tell(agent, 'casino')
    }
    expect(await searches()).toBe('')
    await tell(SECOND, 'casino')
    expect(await searches()).toBe('casino casino')
  })

  it('of several reviews of an owner the newest counts', async () => {
    await tell(SECOND, 'weather forecast')
    await tell(FIRST, 'weather')
    await tell(FIRST, 'forecast')
    expect(await searches()).toBe('forecast forecast')
  })
})

describe('while standings are on', () => {
  it('the words of an owner count from the least standing on, and none of the others', async () => {
    await stand({ [FIRST]: LEAST_STANDING, [SECOND]: LEAST_STANDING - 1, [FOURTH]: 0 })
    await tell(FIRST, 'weather')
    for (const author of [SECOND, THIRD, FOURTH]) await tell(author, 'casino weather')
    expect(await searches()).toBe('weather')
  })

  it('they follow the standings of the day, on and off', async () => {
    await tell(FIRST, 'weather forecast')
    await tell(SECOND, 'weather casino')
    expect(await searches()).toBe('weather weather')
    await stand({ [FIRST]: MILLION })
    expect(await searches()).toBe('forecast weather')
    await stand({ [FIRST]: MILLION, [SECOND]: MILLION })
    expect(await searches()).toBe('casino forecast weather weather')
    await stand({})
    expect(await searches()).toBe('')
    await s.stand({})
    expect(await searches()).toBe('weather weather')
  })

  it('a listing that stays as it is is not told again', async () => {
    await tell(FIRST, 'weather')
    await standAll()
    const before = await s.listing(product)
    await standAll()
    expect(await s.listing(product)).toEqual(before)
  })
})

describe('a search is heard', () => {
  beforeEach(standAll)

  it('only from a review of a purchase by the owner of its author', async () => {
    await tell(FIRST, 'weather', { buyer: null })
    await tell(SECOND, 'weather', { buyer: FIRST })
    expect(await searches()).toBe('')
    // Bought by the agent for its owner of before.
    const purchase = await s.buy(product, THIRD)
    await s.transfer(THIRD, FOURTH)
    const opinion = { size: MILLION, weight: MILLION }
    await s.write(
      await s.review(THIRD, product, { hasText: false, opinion, purchase }),
      'fine',
      'weather casino',
    )
    expect(await searches()).toBe('')
    await tell(FIRST, 'weather')
    expect(await searches()).toBe('weather')
  })

  it('not from a review of another product than the one that was bought', async () => {
    const other = await s.product(0, MERCHANT)
    const purchase = await s.buy(other, FIRST)
    const opinion = { size: MILLION, weight: MILLION }
    const id = await s.review(FIRST, product, { hasText: false, opinion, purchase })
    await s.write(id, 'fine', 'weather')
    expect(await searches()).toBe('')
    expect(await searches(other)).toBe('')
  })

  it('not from a review without an opinion, as those of one’s own shop are', async () => {
    const purchase = await s.buy(product, FIRST)
    const id = await s.review(FIRST, product, { hasText: false, purchase })
    await s.write(id, 'fine', 'weather')
    expect(await searches()).toBe('')
  })

  it('while its author is not flagged', async () => {
    await tell(FIRST, 'weather')
    await s.flag(FIRST, true)
    expect(await searches()).toBe('')
    await s.flag(FIRST, false)
    expect(await searches()).toBe('weather')
  })

  it('while its author belongs to the owner that bought', async () => {
    await tell(FIRST, 'weather')
    await s.transfer(FIRST, SECOND)
    expect(await searches()).toBe('')
    await s.transfer(FIRST, FIRST)
    expect(await searches()).toBe('weather')
  })

  it('while that owner does not own the merchant', async () => {
    await tell(FIRST, 'weather')
    await s.transfer(MERCHANT, FIRST)
    expect(await searches()).toBe('')
    await s.transfer(MERCHANT, MERCHANT)
    expect(await searches()).toBe('weather')
  })

  it('while its review and its purchase are on the chain', async () => {
    const { id, purchase } = await tell(FIRST, 'weather')
    await s.unpublish(id)
    expect(await searches()).toBe('')
    await s.publish(id)
    expect(await searches()).toBe('weather')
    await s.undo(purchase)
    expect(await searches()).toBe('')
    await s.redo(purchase, product, FIRST)
    expect(await searches()).toBe('weather')
    await s.bind(purchase, SECOND)
    expect(await searches()).toBe('')
  })

  it('as its text is now', async () => {
    const { id } = await tell(FIRST, undefined)
    expect(await searches()).toBe('')
    await s.write(id, 'fine', 'weather')
    expect(await searches()).toBe('weather')
    await s.write(id, 'fine', 'forecast')
    expect(await searches()).toBe('forecast')
    await s.write(id, 'fine')
    expect(await searches()).toBe('')
  })
})

describe('an owner teaches', () => {
  beforeEach(standAll)

  async function shelf(count: number): Promise<Product[]> {
    const products: Product[] = []
    for (let n = 0; n < count; n += 1) products.push(await s.product(0, MERCHANT))
    return products
  }
  const taught = async (products: Product[]) => {
    const found: string[] = []
    for (const of of products) found.push((await searches(of)) ?? '')
    return found.filter((words) => words !== '').length
  }

  it('at most so many products a month, the first ones', async () => {
    const products = await shelf(HEARD_IN_MONTH + 3)
    const told = []
    for (const of of products) told.push(await tell(FIRST, 'casino', { of }))
    expect(await taught(products)).toBe(HEARD_IN_MONTH)
    expect(await taught(products.slice(0, HEARD_IN_MONTH))).toBe(HEARD_IN_MONTH)
    // Others have places of their own.
    await tell(SECOND, 'casino', { of: products.at(-1) as Product })
    expect(await taught(products)).toBe(HEARD_IN_MONTH + 1)
    // A place that becomes free is the next one's.
    await s.unpublish(told[0]?.id ?? 0n)
    expect(await taught(products.slice(0, 1))).toBe(0)
    expect(await searches(products[HEARD_IN_MONTH])).toBe('casino')
    await s.pass(31)
    await tell(FIRST, 'casino', { of: products[HEARD_IN_MONTH + 1] as Product })
    expect(await searches(products[HEARD_IN_MONTH + 1])).toBe('casino')
  })

  it('no more by agents, or by many reviews of the same product', async () => {
    const products = await shelf(2)
    for (let n = 0; n < HEARD_IN_MONTH; n += 1) {
      await s.agent(20 + n, FIRST)
      await tell(20 + n, 'casino', { of: products[0] as Product })
    }
    await tell(FIRST, 'casino', { of: products[1] as Product })
    expect(await searches(products[0])).toBe('casino')
    expect(await searches(products[1])).toBe('')
  })
})

it('a batch that is done twice changes nothing, and one of many changes makes as many statements as one of few', async () => {
  await standAll()
  const all = () =>
    database.sql`SELECT *, changed_in::text FROM market.listings WHERE chain_id = ${chainId} ORDER BY merchant_id, product_id`
  await tell(FIRST, 'weather')
  await s.follow()
  const before = await all()
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT chain_id, 'review', internal_id FROM market.reviews WHERE chain_id = ${chainId}`
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, contract, payer, nonce, merchant_id, product_id)
    SELECT chain_id, 'purchase', contract, payer, nonce, merchant_id, product_id FROM chain.escrows WHERE chain_id = ${chainId}`
  await s.follow()
  expect(await all()).toEqual(before)

  const changesOf = async (products: number) => {
    const made: Product[] = []
    for (let n = 0; n < products; n += 1) made.push(await s.product(0, MERCHANT))
    for (const of of made) await tell(SECOND, 'weather', { of })
    return countStatements(database.sql, (sql) => createShops(sql, chainId).followOnce())
  }
  const few = await changesOf(1)
  expect(few).toBeGreaterThan(5)
  expect(await changesOf(30)).toBe(few)
})

it('a rebuild finds what an older version has left out, and forgets what is no more', async () => {
  await standAll()
  const { id } = await tell(FIRST, 'weather')
  const { id: gone } = await tell(SECOND, 'casino')
  expect(await searches()).toBe('casino weather')
  await s.unpublish(gone)
  // The older version takes the changes without looking at searches.
  await database.sql`DELETE FROM market.pending_changes WHERE chain_id = ${chainId}`
  await database.sql`DELETE FROM market.searched_words WHERE internal_id = ${id}`
  await rebuildListings(database.sql, chainId, new Date(s.clock.now))
  expect(await searches()).toBe('weather')
})

it('of many buyers the newest two hundred are read', async () => {
  const { sql } = database
  await tell(FIRST, 'early')
  await tell(SECOND, 'early')
  await s.follow()
  const insert = (count: number) => sql`
    INSERT INTO market.searched_words
    SELECT -n, ${chainId}, ${MERCHANT}, ${bytes32(product.number)}, ${THIRD}, i.owner, '', '', int8send(n),
      now() + n * interval '1 hour', n, 0, 'late', true, NULL, 0
    FROM generate_series(1, ${count}::bigint) AS n, chain.identities AS i WHERE i.chain_id = ${chainId} AND i.agent_id = ${THIRD}`
  await insert(198)
  const touch = () => sql`
    INSERT INTO market.pending_changes (chain_id, what, merchant_id, product_id)
    VALUES (${chainId}, 'listing', ${MERCHANT}, ${bytes32(product.number)})`
  await touch()
  expect(await searches()).toBe('early early')
  await sql`DELETE FROM market.searched_words WHERE internal_id < 0`
  await insert(199)
  await touch()
  expect(await searches()).toBe('')
})
