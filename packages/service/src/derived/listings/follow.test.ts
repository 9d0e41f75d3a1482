import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { asIndexer } from '../../testing/records.ts'
import { bytes32, type Product } from '../ranks/testing.ts'
import { countStatements, createShops, type Shops } from './testing.ts'

const MERCHANT = 900
/** Agent n belongs to owner n. */
const AUTHORS = [1, 2, 3] as const
const [FIRST, SECOND, THIRD] = AUTHORS

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
  for (const number of [MERCHANT, ...AUTHORS]) await s.agent(number, number)
  await s.open(MERCHANT, MERCHANT)
  product = await s.product(0, MERCHANT)
})

async function review(author: number, text: string, of: Product = product): Promise<bigint> {
  s.pass()
  const id = await s.review(author, of, { hasText: false })
  await s.write(id, text)
  return id
}
const isOpen = async () => (await s.listing(product))?.is_open
const evidence = async () => (await s.listing(product))?.evidence
const change = async () => (await s.listing(product))?.changed_in

describe('a product is open', () => {
  it('once it is on sale by a merchant that is open, and has a listing before', async () => {
    expect(await isOpen()).toBe(true)
    const early = await s.product(0, SECOND)
    expect(await s.listing(early)).toMatchObject({
      is_open: false,
      review_count: 0,
      shortlist: [],
      evidence: '',
    })
    await s.open(SECOND, SECOND)
    expect(await s.listing(early)).toMatchObject({ is_open: true })
  })

  it('until the merchant closes, is suspended or changes hands', async () => {
    await s.close(MERCHANT)
    expect(await isOpen()).toBe(false)
    await s.open(MERCHANT, MERCHANT)
    expect(await isOpen()).toBe(true)
    await s.suspend(MERCHANT, true)
    expect(await isOpen()).toBe(false)
    await s.suspend(MERCHANT, false)
    expect(await isOpen()).toBe(true)
    await s.transfer(MERCHANT, 77)
    expect(await isOpen()).toBe(false)
    await s.open(MERCHANT, 77)
    expect(await isOpen()).toBe(true)
  })

  it('until it is taken off sale', async () => {
    await s.sell(product, false)
    expect(await isOpen()).toBe(false)
    await s.sell(product, true)
    expect(await isOpen()).toBe(true)
  })

  it('until it leaves the chain; its listing stays for those who follow', async () => {
    const before = await change()
    await s.forget(product)
    expect(await isOpen()).toBe(false)
    expect(await change()).not.toBe(before)
  })

  it('also when its merchant has more products than one batch takes', async () => {
    const products = []
    for (let n = 0; n < 5; n += 1) products.push(await s.product(0, MERCHANT))
    await asIndexer(database.sql, async (tx) => {
      await tx`
        INSERT INTO chain.products
        SELECT ${chainId}, ${MERCHANT}, sha256(int8send(n)), 500, 0, 0, '', true, now() FROM generate_series(1, 700) AS n`
      await tx`
        INSERT INTO market.products (chain_id, merchant_id, product_id)
        SELECT chain_id, merchant_id, product_id FROM chain.products WHERE chain_id = ${chainId} ON CONFLICT DO NOTHING`
    })
    const open = async () => {
      await s.follow()
      const [row] = await database.sql<[{ open: number; all: number }]>`
        SELECT count(*) FILTER (WHERE is_open)::integer AS open, count(*)::integer AS all
        FROM market.listings WHERE chain_id = ${chainId}`
      return row
    }
    expect(await open()).toEqual({ open: 706, all: 706 })
    await s.close(MERCHANT)
    expect(await open()).toEqual({ open: 0, all: 706 })
  })
})

describe('what is told beside a listing', () => {
  it.each([
    ['its name', () => s.describe(product, { name: 'Weather' })],
    [
      'its rank',
      () =>
        database.sql`UPDATE market.products SET rank = 0.75 WHERE chain_id = ${chainId} AND merchant_id = ${MERCHANT}`,
    ],
    [
      'its least price',
      () =>
        asIndexer(
          database.sql,
          (tx) =>
            tx`UPDATE chain.products SET min_price = 5 WHERE chain_id = ${chainId} AND merchant_id = ${MERCHANT}`,
        ),
    ],
  ])('is told again when it is %s that changes', async (_, makeChange) => {
    const before = await s.listing(product)
    await makeChange()
    const after = await s.listing(product)
    expect(after?.changed_in).not.toBe(before?.changed_in)
    expect({ ...after, changed_in: 0 }).toEqual({ ...before, changed_in: 0 })
  })

  it('is not told again when nothing of it changes', async () => {
    const id = await review(FIRST, 'quick answers')
    const before = await s.listing(product)
    await s.outcome(id, 'confirmed')
    await s.transfer(FIRST, 44)
    await database.sql`INSERT INTO market.pending_changes (chain_id, what, subject) VALUES (${chainId}, 'review', ${id}), (${chainId}, 'merchant', ${MERCHANT})`
    expect(await s.listing(product)).toEqual(before)
  })

  it('is told again when its price is seen', async () => {
    await database.sql`UPDATE market.products SET endpoint_url = 'https://shop.example/a' WHERE chain_id = ${chainId}`
    const before = await change()
    await database.sql`UPDATE market.offers SET price = 5 WHERE chain_id = ${chainId}`
    expect(await change()).not.toBe(before)
  })
})

describe('reviews', () => {
  it('are listed while they are on the chain with their text', async () => {
    const id = await s.review(FIRST, product, { hasText: false })
    expect(await s.listing(product)).toMatchObject({ review_count: 0, shortlist: [] })
    await s.write(id, 'quick answers')
    expect(await s.listing(product)).toMatchObject({
      review_count: 1,
      shortlist: [id],
      evidence: 'answers quick',
    })
    await s.unpublish(id)
    expect(await s.listing(product)).toMatchObject({ review_count: 0, shortlist: [], evidence: '' })
    await s.publish(id)
    expect(await s.listing(product)).toMatchObject({
      review_count: 1,
      shortlist: [id],
      evidence: 'answers quick',
    })
  })

  it('of another product are not', async () => {
    const other = await s.product(0, MERCHANT)
    const id = await review(FIRST, 'quick answers', other)
    expect(await s.listing(product)).toMatchObject({ review_count: 0, shortlist: [] })
    expect(await s.listing(other)).toMatchObject({ review_count: 1, shortlist: [id] })
  })

  it('that are more than a shortlist holds: the newest, those of the best authors, and all that are excluded', async () => {
    await s.rank(FIRST, 0.9)
    await s.rank(SECOND, 0.1)
    // The oldest reviews: by the best author, by an agent of the merchant's owner, and by another author.
    const best = await bulk(FIRST, 60)
    await s.agent(50, MERCHANT)
    await s.rank(50, 0.05)
    const own = await bulk(50, 3)
    const plain = await bulk(SECOND, 137)
    expect((await s.listing(product))?.shortlist).toEqual([...best, ...own, ...plain])
    const newest = await bulk(SECOND, 100)
    const { review_count, shortlist } = (await s.listing(product)) ?? {}
    expect(review_count).toBe(300)
    // Authors of equal rank are ordered by newest review, so the best are already among the newest, except for forty.
    expect(shortlist).toEqual([...best, ...own, ...newest])
  })

  it('of an agent that is sold to the merchant’s owner come to a shortlist that left them out', async () => {
    const old = await bulk(SECOND, 2)
    await bulk(THIRD, 250)
    expect((await s.listing(product))?.shortlist).not.toContain(old[0])
    await s.transfer(SECOND, MERCHANT)
    expect((await s.listing(product))?.shortlist.slice(0, 2)).toEqual(old)
  })

  /** Inserts many reviews in one statement, each newer than the one before. */
  async function bulk(author: number, count: number): Promise<bigint[]> {
    s.pass()
    const rows = await database.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      const written = await tx<{ internal_id: bigint }[]>`
        INSERT INTO market.reviews
          (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, author_owner, content)
        SELECT i.chain_id, i.agent_id, ${MERCHANT}, ${bytes32(product.number)}, ${bytes32(author)}, 1, ${s.clock.now} + n, 0, i.owner, '{}'
        FROM generate_series(1, ${count}::bigint) AS n, chain.identities AS i
        WHERE i.chain_id = ${chainId} AND i.agent_id = ${author} ORDER BY n RETURNING internal_id`
      await tx`
        INSERT INTO chain.reviews
          (chain_id, review_id, internal_id, agent_id, merchant_id, product_id, content_hash, proof_kind, proof_id, published_at)
        SELECT chain_id, internal_id, internal_id, agent_id, merchant_id, product_id, published_hash, 1, proof_id, ${new Date(s.clock.now)}
        FROM market.reviews WHERE internal_id = ANY(${written.map(({ internal_id }) => internal_id)}::bigint[])`
      return written
    })
    return rows.map(({ internal_id }) => internal_id)
  }
})

describe('what reviews say', () => {
  it('is counted once for each owner that says it, three times at most', async () => {
    await s.agent(11, FIRST)
    await review(FIRST, 'fast and cheap')
    await review(FIRST, 'fast FAST Fast')
    await review(11, 'fast')
    expect(await evidence()).toBe('cheap fast')
    for (const [at, author] of [SECOND, THIRD, 4, 5].entries()) {
      if (at > 1) await s.agent(author, author)
      await review(author, 'it is fast')
    }
    expect(await evidence()).toBe('cheap fast fast fast')
  })

  it('follows an edited text, although the rating is the same', async () => {
    const id = await review(FIRST, 'fast')
    expect(await evidence()).toBe('fast')
    await s.write(id, 'slow')
    expect(await evidence()).toBe('slow')
  })

  it('is without the words of flagged authors, for as long as they are', async () => {
    await review(FIRST, 'fast')
    await review(SECOND, 'honest')
    await s.flag(FIRST, true)
    expect(await evidence()).toBe('honest')
    await s.flag(FIRST, false)
    expect(await evidence()).toBe('fast honest')
  })

  it('is without the words of whoever owns the merchant', async () => {
    await review(FIRST, 'fast')
    await review(SECOND, 'honest')
    await s.transfer(MERCHANT, FIRST)
    expect(await evidence()).toBe('honest')
    await s.transfer(MERCHANT, SECOND)
    expect(await evidence()).toBe('fast')
  })

  it('is heard from the best twenty authors, the newest first among equals', async () => {
    for (let n = 0; n < 22; n += 1) {
      await s.agent(100 + n, 100 + n)
      if (n === 0) await s.rank(100, 0.9)
      await review(100 + n, `word${n}`)
    }
    const words = Array.from({ length: 22 }, (_, n) => `word${n}`).filter(
      (word) => word !== 'word1' && word !== 'word2',
    )
    expect((await evidence())?.split(' ')).toEqual(words.sort())
  })
})

it('a batch that is done twice changes nothing', async () => {
  await review(FIRST, 'quick answers')
  await s.follow()
  const all = () =>
    database.sql`SELECT *, changed_in::text FROM market.listings ORDER BY chain_id, merchant_id, product_id`
  const before = await all()
  await database.sql`
    INSERT INTO market.pending_changes (chain_id, what, subject)
    SELECT ${chainId}, what, subject FROM (
      SELECT 'review' AS what, internal_id AS subject FROM market.reviews WHERE chain_id = ${chainId}
      UNION ALL SELECT unnest(ARRAY['agent', 'flag', 'merchant']), agent_id FROM chain.identities WHERE chain_id = ${chainId}) AS again`
  await s.follow()
  expect(await all()).toEqual(before)
})

it('a batch of many changes makes as many statements as one of few', async () => {
  const changesOf = async (products: number) => {
    const made: Product[] = []
    for (let n = 0; n < products; n += 1) made.push(await s.product(0, MERCHANT))
    for (const one of made) await review(FIRST, 'fast', one)
    return countStatements(database.sql, (sql) => createShops(sql, chainId).followOnce())
  }
  await s.follow()
  const few = await changesOf(1)
  expect(few).toBeGreaterThan(5)
  expect(await changesOf(40)).toBe(few)
})
