import { seedOf } from '@referrer/chain/testing'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../../machinery/db/migrations.ts'
import { until } from '../../machinery/workers/testing.ts'
import { planOffers } from './plan.ts'
import { refreshDue } from './refresh.ts'
import { bytes32, CHAIN_ID, createOffers, MERCHANT_ID, offerOf, openShop, type Shop } from './testing.ts'

const seed = seedOf()
const HOUR = 60

let database: TestDatabase
let shop: Shop
let offers: ReturnType<typeof createOffers>

beforeAll(async () => {
  database = await freshDatabase(migrations)
})
afterAll(() => database.drop())
beforeEach(async () => {
  await database.sql`TRUNCATE market.offers, market.listings, market.products, market.pending_changes`
  offers = createOffers(database.sql)
  shop = await openShop()
  return () => shop.close()
})

const refresh = (signal = new AbortController().signal) => refreshDue(offers.context, signal)

/** How many requests the endpoint gets in one run at the present time. */
async function asks(): Promise<number> {
  const before = shop.asked.length
  await refresh()
  return shop.asked.length - before
}

describe('the price of a product', () => {
  it('is what its endpoint asks for, and discovery is told', async () => {
    await offers.describe(1, shop.url('shop.test'))
    await database.sql`DELETE FROM market.pending_changes`
    await refresh()
    expect(await offers.offer(1)).toMatchObject({
      price: 1_000n,
      seen: new Date(offers.clock.now),
      failures: 0,
    })
    const changes = await database.sql`SELECT what, merchant_id, product_id FROM market.pending_changes`
    expect([...changes]).toEqual([{ what: 'listing', merchant_id: MERCHANT_ID, product_id: bytes32(1) }])
  })

  it('is asked for as a buyer would, and no redirect is followed', async () => {
    const headers: unknown[] = []
    shop.answer = (request, response) => {
      headers.push(request.method, request.headers['x-referrer-token'])
      response.writeHead(302, { location: '/elsewhere' }).end(offerOf('5'))
    }
    await offers.describe(1, shop.url('shop.test', '/buy?x=1'))
    await refresh()
    expect(headers).toEqual(['GET', expect.stringMatching(/^\S+$/)])
    expect(shop.asked).toEqual(['shop.test/buy?x=1'])
    expect(await offers.offer(1)).toMatchObject({ price: null, failures: 1 })
  })

  it('may be nothing, and follows the endpoint', async () => {
    await offers.describe(1, shop.url('shop.test'))
    for (const amount of ['0', '17', '0']) {
      shop.answer = (_request, response) => response.writeHead(402).end(offerOf(amount))
      await refresh()
      expect(await offers.offer(1)).toMatchObject({ price: BigInt(amount) })
      offers.pass(2 * HOUR)
    }
  })

  it('announces no change when the offer is as before', async () => {
    await offers.describe(1, shop.url('shop.test'))
    await refresh()
    await database.sql`DELETE FROM market.pending_changes`
    offers.pass(2 * HOUR)
    expect(await asks()).toBe(1)
    expect(await database.sql`SELECT FROM market.pending_changes`).toHaveLength(0)
  })

  it('stays when the endpoint fails, and is asked for more and more seldom, at last once a week', async () => {
    await offers.describe(1, shop.url('shop.test'))
    await refresh()
    shop.answer = (_request, response) => response.writeHead(500).end()
    const waits: (number | undefined)[] = []
    for (let failures = 1; failures <= 10; failures += 1) {
      offers.pass(7 * 24 * HOUR + 6)
      expect(await asks()).toBe(1)
      const offer = await offers.offer(1)
      expect(offer).toMatchObject({ price: 1_000n, failures })
      waits.push(offer && offer.minutes / HOUR)
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 168, 168])
    shop.answer = (_request, response) => response.writeHead(402).end(offerOf('3'))
    offers.pass(7 * 24 * HOUR)
    await refresh()
    expect(await offers.offer(1)).toMatchObject({ price: 3n, failures: 0, minutes: HOUR })
  })

  it('is kept with what the endpoint tells of itself, which follows it, stays when it fails and goes with it', async () => {
    const about = (description: unknown, extensions = {}) =>
      JSON.stringify({ ...JSON.parse(offerOf('5')), resource: { description }, extensions })
    const told = async () => {
      const [row] = await database.sql`SELECT told FROM market.offers`
      return row?.told
    }
    const endpoint = shop.url('shop.test', '/old')
    await offers.describe(1, endpoint)
    const schema = { type: 'object' }
    const info = { input: { type: 'http', method: 'GET' } }
    shop.answer = (_request, response) =>
      response.writeHead(402).end(about('Rain', { bazaar: { info, schema } }))
    await refresh()
    expect(await told()).toEqual({ endpoint, description: 'Rain', bazaar: { info, schema } })
    for (const answer of [about('Sun'), about('\0', { bazaar: { info, schema: 7 } })]) {
      offers.pass(2 * HOUR)
      shop.answer = (_request, response) => response.writeHead(402).end(answer)
      await refresh()
      expect(await offers.offer(1)).toMatchObject({ price: 5n, failures: 0 })
      expect(await told()).toEqual(answer.includes('Sun') ? { endpoint, description: 'Sun' } : { endpoint })
    }
    offers.pass(2 * HOUR)
    shop.answer = (_request, response) => response.writeHead(500).end()
    await refresh()
    expect(await told()).toEqual({ endpoint })
    await offers.describe(1, shop.url('shop.test', '/new'))
    expect(await told()).toBeNull()
  })

  it('is forgotten with the endpoint, and the other one is asked an hour after the one before', async () => {
    await offers.describe(1, shop.url('shop.test', '/old'))
    await refresh()
    offers.pass(20)
    await database.sql`DELETE FROM market.pending_changes`
    await offers.describe(1, shop.url('shop.test', '/new'))
    expect(await offers.offer(1)).toMatchObject({ price: null, seen: null, minutes: 40 })
    expect(await database.sql`SELECT FROM market.pending_changes WHERE what = 'listing'`).not.toHaveLength(0)
    expect(await asks()).toBe(0)
    offers.pass(40)
    expect(await asks()).toBe(1)
    expect(shop.asked.at(-1)).toBe('shop.test/new')
    expect(await offers.offer(1)).toMatchObject({ price: 1_000n })
  })

  it('is not taken from an endpoint that was left while it was asked', async () => {
    const asked = Promise.withResolvers<void>()
    const told = Promise.withResolvers<void>()
    shop.answer = async (_request, response) => {
      asked.resolve()
      await told.promise
      response.writeHead(402).end(offerOf('9'))
    }
    await offers.describe(1, shop.url('shop.test', '/old'))
    const done = refresh()
    await asked.promise
    await offers.describe(1, shop.url('shop.test', '/new'))
    told.resolve()
    await done
    expect(await offers.offer(1)).toMatchObject({ price: null, minutes: HOUR })
  })

  it.each([
    ['offers nothing on this chain', offerOf('1').replace(`:${CHAIN_ID}`, ':1')],
    ['offers another token', offerOf('1').replace(/0x\w{40}/, `0x${'11'.repeat(20)}`)],
    ['sends more than anybody reads', `${' '.repeat(300 * 1024)}${offerOf('1')}`],
    ['speaks of something else', '<html>'],
  ])('is not known when the endpoint %s', async (_what, body) => {
    shop.answer = (_request, response) => response.writeHead(402).end(body)
    await offers.describe(1, shop.url('shop.test'))
    await refresh()
    expect(await offers.offer(1)).toMatchObject({ price: null, failures: 1 })
  })

  it('is not asked for in our own network', async () => {
    offers.context.config = { ...offers.context.config, allowPrivateHosts: false }
    await offers.describe(1, shop.url('shop.test'))
    await offers.describe(2, shop.url('127.0.0.1'))
    await refresh()
    expect(shop.asked).toEqual([])
    for (const number of [1, 2])
      expect(await offers.offer(number)).toMatchObject({ price: null, failures: 1 })
  })
})

describe('an endpoint', () => {
  it('is asked again after an hour and not before', async () => {
    await offers.describe(1, shop.url('shop.test'))
    expect([await asks(), await asks()]).toEqual([1, 0])
    offers.pass(59)
    expect(await asks()).toBe(0)
    // Products asked at the same moment are asked again a few minutes apart.
    offers.pass(7)
    expect(await asks()).toBe(1)
  })

  it('is left alone while its product is closed, and asked when that opens, but not within the hour', async () => {
    await offers.describe(1, shop.url('shop.test'))
    await refresh()
    await offers.describe(1, shop.url('shop.test'), false)
    expect(await offers.offer(1)).toMatchObject({ isLeftAlone: true, price: 1_000n })
    offers.pass(30)
    await offers.describe(1, shop.url('shop.test'))
    expect(await asks()).toBe(0)
    await offers.describe(1, shop.url('shop.test'), false)
    offers.pass(24 * HOUR)
    expect(await asks()).toBe(0)
    await offers.describe(1, shop.url('shop.test'))
    expect(await asks()).toBe(1)
  })

  it('is not planned for what is closed, or sold nowhere, or not there', async () => {
    await offers.describe(1, shop.url('shop.test'), false)
    await offers.describe(2, '')
    await database.sql.begin((tx) =>
      planOffers(tx, CHAIN_ID, [{ merchantId: MERCHANT_ID, productId: bytes32(3) }]),
    )
    expect(await database.sql`SELECT FROM market.offers`).toHaveLength(0)
  })

  it('is asked once when a product is planned twice', async () => {
    await offers.describe(1, shop.url('shop.test'))
    const key = { merchantId: MERCHANT_ID, productId: bytes32(1) }
    await database.sql.begin((tx) => planOffers(tx, CHAIN_ID, [key, key]))
    expect(await asks()).toBe(1)
  })

  it('is not asked again within the hour by whoever comes after a crash', async () => {
    shop.answer = () => {}
    await offers.describe(1, shop.url('shop.test'))
    const crash = new AbortController()
    const done = refresh(crash.signal)
    await until(() => shop.asked.length === 1, 'the question')
    crash.abort(new Error('the end'))
    await expect(done).rejects.toThrow('the end')
    expect(await offers.offer(1)).toMatchObject({ failures: 0, price: null })
    offers.pass(59)
    expect(await asks()).toBe(0)
    shop.answer = (_request, response) => response.writeHead(402).end(offerOf('4'))
    offers.pass(1)
    expect(await asks()).toBe(1)
    expect(await offers.offer(1)).toMatchObject({ price: 4n })
  })

  it('is asked by one of two replicas', async () => {
    for (let number = 1; number <= 30; number += 1)
      await offers.describe(number, shop.url(`shop${number % 7}.test`, `/${number}`))
    await Promise.all([refresh(), refresh(), refresh()])
    expect(shop.asked).toHaveLength(30)
    expect(new Set(shop.asked).size).toBe(30)
  })
})

describe('hosts', () => {
  /** Meanwhile the database takes only such offers. */
  async function storing(only: string, work: () => Promise<void>): Promise<void> {
    await database.sql.unsafe(`ALTER TABLE market.offers ADD CONSTRAINT refuses CHECK (${only})`)
    try {
      await work()
    } finally {
      await database.sql`ALTER TABLE market.offers DROP CONSTRAINT refuses`
    }
  }

  it('are asked one thing at a time each, and all at once', async () => {
    const atOnce = new Map<string, number>()
    const most = new Map<string, number>()
    const all = Promise.withResolvers<void>()
    shop.answer = async ({ headers: { host = '' } }, response) => {
      const now = (atOnce.get(host) ?? 0) + 1
      atOnce.set(host, now)
      most.set(host, Math.max(now, most.get(host) ?? 0))
      // The server answers only when all hosts have been asked.
      if (atOnce.size === 4) all.resolve()
      await all.promise
      atOnce.set(host, (atOnce.get(host) ?? 0) - 1)
      response.writeHead(402).end(offerOf('1'))
    }
    for (let number = 0; number < 48; number += 1)
      await offers.describe(number, shop.url(`shop${number % 4}.test`, `/${number}`))
    await refresh()
    expect(shop.asked).toHaveLength(48)
    expect([...most.values()]).toEqual([1, 1, 1, 1])
  })

  it('whose offers cannot be stored do not stop the others', async () => {
    await offers.describe(1, shop.url('a.test', '/1'))
    await offers.describe(2, shop.url('a.test', '/2'))
    for (let number = 3; number <= 50; number += 1) await offers.describe(number, shop.url(`b${number}.test`))
    // That host is asked no more in this run, which says that it failed.
    await storing("host NOT LIKE 'a.%' OR price IS NULL", () => expect(refresh()).rejects.toThrow('refuses'))
    expect(shop.asked.filter((asked) => asked.startsWith('a.'))).toHaveLength(1)
    expect(await database.sql`SELECT FROM market.offers WHERE price = 1000`).toHaveLength(48)
    offers.pass(HOUR)
    await refresh()
    expect(await database.sql`SELECT FROM market.offers WHERE price = 1000`).toHaveLength(50)
  })

  it('are left alone after a few failures when nothing can be stored', async () => {
    for (let number = 1; number <= 100; number += 1)
      await offers.describe(number, shop.url(`b${number}.test`))
    await storing('price IS NULL', () => expect(refresh()).rejects.toThrow('refuses'))
    // Those who wait for their turn are asked no more after 32 failures, which a turn of 32 may be close to.
    expect(shop.asked.length).toBeLessThan(64)
    await refresh()
    expect(shop.asked).toHaveLength(100)
  })

  it('that are silent do not hold up the others, whenever those come', async () => {
    shop.answer = ({ headers: { host = '' } }, response) => {
      if (!host.startsWith('slow')) response.writeHead(402).end(offerOf('2'))
    }
    for (let number = 1; number <= 3; number += 1)
      await offers.describe(number, shop.url('slow.test', `/${number}`))
    await offers.describe(4, shop.url('quick.test'))
    const end = new AbortController()
    const done = refresh(end.signal)
    await until(async () => (await offers.offer(4))?.price === 2n, 'the price at the quick host')
    await offers.describe(5, shop.url('new.test'))
    await until(async () => (await offers.offer(5))?.price === 2n, 'the price at the new host')
    expect(shop.asked.filter((asked) => asked.startsWith('slow'))).toHaveLength(1)
    end.abort(new Error('enough'))
    await expect(done).rejects.toThrow('enough')
  })

  it('of one site, however many and however they are spelled, do not hold up the others', async () => {
    shop.answer = ({ headers: { host = '' } }, response) => {
      if (!host.startsWith('slow')) response.writeHead(402).end(offerOf('2'))
    }
    const names = ['site.test', 's%69te.test', 'SITE.test']
    const urls = Array.from({ length: 1_200 }, (_, at) => shop.url(`slow${at}.${names[at % names.length]}`))
    await database.sql`
      INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url, ask_at)
      SELECT ${CHAIN_ID}, ${MERCHANT_ID}, int8send(at), url, ${new Date(offers.clock.now)}
      FROM unnest(${urls}::text[]) WITH ORDINALITY AS slow (url, at)`
    offers.pass(1)
    await offers.describe(0, shop.url('quick.test'))
    const end = new AbortController()
    const done = refresh(end.signal)
    await until(async () => (await offers.offer(0))?.price === 2n, 'the price at the other site')
    // Each is given up after 5 seconds.
    expect(shop.asked.filter((asked) => asked.startsWith('slow')).length).toBeLessThanOrEqual(8)
    end.abort(new Error('enough'))
    await expect(done).rejects.toThrow('enough')
  })
})

describe(`histories (SEED=${seed})`, () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('pass' as const), minutes: fc.integer({ min: 0, max: 200 }) }),
    fc.record({
      kind: fc.constant('describe' as const),
      number: fc.integer({ min: 1, max: 2 }),
      endpoint: fc.integer({ min: 0, max: 2 }),
      isOpen: fc.boolean(),
    }),
    fc.record({
      kind: fc.constant('refresh' as const),
      replicas: fc.integer({ min: 1, max: 2 }),
      fails: fc.boolean(),
    }),
  )

  it('of any kind never have a product asked for twice within an hour', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 40 }), async (steps) => {
      await database.sql`TRUNCATE market.offers, market.listings, market.products`
      const askedAt = new Map<string, number>()
      const pauses: number[] = []
      let fails = false
      shop.answer = ({ url = '' }, response) => {
        const product = url.split('/')[1] ?? ''
        pauses.push(offers.clock.now - (askedAt.get(product) ?? 0))
        askedAt.set(product, offers.clock.now)
        response.writeHead(fails ? 500 : 402).end(offerOf('1'))
      }
      for (const each of steps) {
        if (each.kind === 'pass') offers.pass(each.minutes)
        else if (each.kind === 'describe') {
          await offers.describe(
            each.number,
            shop.url('shop.test', `/${each.number}/${each.endpoint}`),
            each.isOpen,
          )
        } else {
          fails = each.fails
          await Promise.all(Array.from({ length: each.replicas }, () => refresh()))
        }
      }
      expect(Math.min(...pauses)).toBeGreaterThanOrEqual(3_600_000)
    })
    await fc.assert(property, { seed, numRuns: 15 })
  })
})
