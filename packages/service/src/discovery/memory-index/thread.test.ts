import { Worker } from 'node:worker_threads'
import { seedOf } from '@referrer/chain/testing'
import { connect, migrate, type Sql } from '@referrer/database'
import { freshDatabase, startKillablePostgres, type TestDatabase } from '@referrer/database/testing'
import { keyOf, type Question } from '@referrer/search'
import fc from 'fast-check'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { createShops, type Shops } from '../../derived/listings/testing.ts'
import { bytes32, type Product } from '../../derived/ranks/testing.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { startWorkers } from '../../machinery/workers/frame.ts'
import { until } from '../../machinery/workers/testing.ts'
import { LOCAL } from '../embeddings/ids.ts'
import { searchIndex, searchWorker } from './client.ts'
import { asked, keysOf, POLL_MS, type Replica, replicaContext, startReplica } from './testing.ts'

const MERCHANT = 900
const DIMS = LOCAL.dims

let database: TestDatabase
let sql: Sql
let chainId = 0
let s: Shops
const replicas: Replica[] = []

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())

beforeEach(async () => {
  chainId += 1
  s = await openShops(sql)
})
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(replicas.splice(0).map((replica) => replica.stop()))
  await sql`TRUNCATE market.embedders CASCADE`
})

async function openShops(on: Sql): Promise<Shops> {
  const shops = createShops(on, chainId)
  for (const number of [MERCHANT, 1, 2]) await shops.agent(number, number)
  await shops.open(MERCHANT, MERCHANT)
  return shops
}

async function add(name: string, shops = s): Promise<Product> {
  const product = await shops.product(0, MERCHANT)
  await shops.describe(product, { name, category: 'data' })
  await shops.follow()
  return product
}
const keyOfProduct = ({ number }: Product) => keyOf(BigInt(MERCHANT), bytes32(number))

async function start(
  env: Record<string, string> = { EMBEDDER: 'off' },
  url = database.url,
): Promise<Replica> {
  const replica = startReplica(replicaContext(sql, url, [chainId], env))
  replicas.push(replica)
  await until(() => replica.state.standing, 'the index to be loaded')
  return replica
}
/** Asks again if there is no answer in time. */
const hitsOf = ({ index }: Replica, question: Question, chain = chainId) =>
  until(() => index.find(chain, question), 'an answer')
const found = async (replica: Replica, intent: string) => keysOf(await hitsOf(replica, asked(intent)))
const finds = (replica: Replica, intent: string, products: readonly Product[]) =>
  until(
    async () => `${await found(replica, intent)}` === `${products.map(keyOfProduct)}`,
    `${products.length} hits for ${intent}`,
  )

it('finds what was there before it', async () => {
  const weather = await add('Weather in Lisbon')
  await add('Exchange rates')
  const replica = await start()
  const hits = await hitsOf(replica, asked('weather lisbon'))
  expect(hits).toEqual([{ key: keyOfProduct(weather), intentMatch: expect.any(Number), rank: 0.5 }])
  expect(await hitsOf(replica, asked('weather', { category: 'other' }))).toEqual([])
  expect(await hitsOf(replica, asked('weather'), chainId + 1_000)).toEqual([])
  expect(replica.state.standing?.chains).toEqual([{ chainId, products: 2, vectors: 0, isRestored: false }])
})

it('follows what is added, renamed, reviewed, priced, closed and taken back', async () => {
  const replica = await start()
  expect(await found(replica, 'weather')).toEqual([])
  const weather = await add('Weather')
  await finds(replica, 'weather', [weather])

  await s.describe(weather, { name: 'Tides', category: 'data' })
  await s.follow()
  await finds(replica, 'tides', [weather])
  expect(await found(replica, 'weather')).toEqual([])

  const review = await s.review(1, weather, { hasText: false })
  await s.write(review, 'accurate forecasts')
  await s.follow()
  await finds(replica, 'forecasts', [weather])

  await sql`UPDATE market.products SET endpoint_url = 'https://shop.example/' WHERE chain_id = ${chainId}`
  await s.follow()
  await sql`UPDATE market.offers SET price = 500 WHERE chain_id = ${chainId}`
  await s.follow()
  await until(
    async () => (await hitsOf(replica, asked('tides', { ceiling: 499 }))).length === 0,
    'the price to be known',
  )
  expect(keysOf(await hitsOf(replica, asked('tides', { ceiling: 500 })))).toEqual([keyOfProduct(weather)])

  await s.close(MERCHANT)
  await s.follow()
  await finds(replica, 'tides', [])
  await s.open(MERCHANT, MERCHANT)
  await s.follow()
  await finds(replica, 'tides', [weather])
  await s.forget(weather)
  await s.follow()
  await finds(replica, 'tides', [])
})

it('does not miss what is committed late', async () => {
  const weather = await add('Weather')
  const replica = await start()
  await finds(replica, 'weather', [weather])
  const [changed, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const late = sql.begin(async (tx) => {
    await tx`UPDATE market.products SET name = 'Tides' WHERE chain_id = ${chainId}`
    await tx`UPDATE market.listings SET changed_in = pg_current_xact_id() WHERE chain_id = ${chainId}`
    changed.resolve()
    await gate.promise
  })
  await Promise.race([changed.promise, late])
  // Other products arrive in between and are seen.
  const others = [await add('Maps'), await add('Maps of the sea')]
  await until(async () => (await found(replica, 'maps'))?.length === others.length, 'the maps')
  expect(await found(replica, 'tides')).toEqual([])
  gate.resolve()
  await late
  await finds(replica, 'tides', [weather])
})

it('answers alike on every replica, whatever it has seen on the way', async () => {
  const WORDS = ['weather', 'tides', 'maps', 'rates', 'sea', 'lisbon']
  const early = await start()
  const products: Product[] = []
  const step = fc.tuple(fc.nat(99), fc.nat(99), fc.nat(99))
  const history =
    fc.sample(fc.array(step, { minLength: 60, maxLength: 60 }), { seed: seedOf(), numRuns: 1 })[0] ?? []
  const pick = <T>(all: readonly T[], n: number) => all[n % all.length] as T
  for (const [what, which, word] of history) {
    const product = products.length > 0 ? pick(products, which) : undefined
    const name = `${pick(WORDS, word)} ${pick(WORDS, which)}`
    if (!product || what < 40) products.push(await add(name))
    else if (what < 70) await s.describe(product, { name, category: pick(['data', 'api'], word) })
    else if (what < 85) await s.sell(product, word % 2 === 0)
    else
      await sql`UPDATE market.products SET rank = ${word / 100} WHERE chain_id = ${chainId} AND product_id = ${bytes32(product.number)}`
    if (word % 3 === 0) await s.follow()
  }
  await s.follow()
  const late = await start()
  const answers = (replica: Replica) =>
    Promise.all(WORDS.map((word) => hitsOf(replica, asked(`${word} weather`, { limit: 50 }))))
  const expected = await answers(late)
  expect(expected.flat().length).toBeGreaterThan(20)
  await until(
    async () => JSON.stringify(await answers(early)) === JSON.stringify(expected),
    'the same answers',
  )
})

it('is asked no more at once than it could answer in time', async () => {
  await add('Weather in Lisbon')
  const replica = await start()
  const sent = vi.spyOn(Worker.prototype, 'postMessage')
  const ask = () => replica.index.find(chainId, asked('weather'))
  const answers = await Promise.all(Array.from({ length: 200 }, ask))
  expect(sent).toHaveBeenCalledTimes(64)
  expect(answers.slice(64)).toEqual(Array(136).fill(undefined))
  await until(ask, 'an answer when these are given')
})

it('starts without loading what only the doors need', async () => {
  const code = `
    import { registerHooks } from 'node:module'
    import { parentPort } from 'node:worker_threads'
    const loaded = []
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
    await import(${JSON.stringify(import.meta.resolve('./following.ts'))})
    parentPort.postMessage(loaded)`
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`))
  const loaded: string[] = await new Promise((resolve, reject) =>
    thread.once('message', resolve).once('error', reject),
  )
  const packages = loaded.flatMap((url) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1] ?? [])
  expect([...new Set(packages)].sort()).toEqual(['postgres', 'stemmer'])
})

describe('a thread that dies', () => {
  it('is started again, and nobody who asks meanwhile hears of it', async () => {
    const weather = await add('Weather')
    const context = replicaContext(sql, database.url, [chainId], { EMBEDDER: 'off' })
    const index = searchIndex(context)
    const events: string[] = []
    const workers = startWorkers({
      workers: [searchWorker(context, { pollMs: POLL_MS })],
      onEvent: ({ type }) => events.push(type),
      backoff: { firstMs: 50, maxMs: 50 },
    })
    try {
      const isThere = () =>
        until(async () => (await index.find(chainId, asked('weather')))?.length === 1, 'the weather')
      const sent = vi.spyOn(Worker.prototype, 'postMessage')
      await isThere()
      const threads = new Set(sent.mock.contexts as Worker[])
      const waiting = index.find(chainId, asked('weather'))
      await Promise.all([...threads].map((thread) => thread.terminate()))
      expect([undefined, [keyOfProduct(weather)]]).toContainEqual(keysOf(await waiting))
      expect(await index.find(chainId, asked('weather'))).toBeUndefined()
      await isThere()
      expect(events).toEqual(['worker.failed', 'worker.recovered'])
    } finally {
      await workers.stop({ timeoutMs: 5_000 })
    }
    expect(await index.find(chainId, asked('weather'))).toBeUndefined()
  })
})

it('answers from memory while the database is gone, and catches up when it is back', async () => {
  const postgres = await startKillablePostgres()
  const own = connect(postgres.url, { max: 2 })
  try {
    await migrate(own, migrations)
    const shops = await openShops(own)
    const weather = await add('Weather', shops)
    const replica = await start(undefined, postgres.url)
    await finds(replica, 'weather', [weather])
    await postgres.kill()
    await until(() => replica.state.ageSeconds > 5 * (POLL_MS / 1_000), 'polls to fail')
    expect(await found(replica, 'weather')).toEqual([keyOfProduct(weather)])
    await postgres.start()
    await until(() => own`SELECT`.catch(() => undefined), 'the database')
    const tides = await add('Tides', shops)
    await finds(replica, 'tides', [tides])
    expect(await found(replica, 'weather')).toEqual([keyOfProduct(weather)])
  } finally {
    await Promise.all(replicas.splice(0).map((replica) => replica.stop()))
    await own.end({ timeout: 0 })
    await postgres.remove()
  }
})

describe('vectors', () => {
  const OTHER = 'endpoint/other@4'
  const ENDPOINT = {
    EMBEDDER: 'endpoint',
    EMBEDDINGS_URL: 'https://models.example/v1',
    EMBEDDINGS_MODEL: 'other',
    EMBEDDINGS_DIMENSIONS: '4',
  }

  const model = (id: string, dims: number, isReady: boolean) => sql`
    INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${id}, ${dims}, CASE WHEN ${isReady} THEN now() END)
    ON CONFLICT (embedder_id) DO UPDATE SET ready_at = excluded.ready_at`
  const embed = (id: string, { number }: Product, vector: number[]) =>
    sql.begin(async (tx) => {
      await tx`
      INSERT INTO market.product_vectors VALUES
        (${id}, ${chainId}, ${MERCHANT}, ${bytes32(number)}, '', ${Buffer.from(Int8Array.from(vector))})`
      await tx`UPDATE market.listings SET changed_in = pg_current_xact_id() WHERE chain_id = ${chainId} AND product_id = ${bytes32(number)}`
    })
  const unit = (dims: number, at: number) => Array.from({ length: dims }, (_, n) => (n === at ? 127 : 0))
  /** The nearest product. */
  const near = async (replica: Replica, vector: number[]) =>
    keysOf(await hitsOf(replica, asked('zzz', { vector: Int8Array.from(vector), limit: 1 })))

  it('come when they are made, and those of another model are no use', async () => {
    const [weather, tides] = [await add('Weather'), await add('Tides')]
    await model(LOCAL.id, DIMS, true)
    await embed(LOCAL.id, weather, unit(DIMS, 0))
    const replica = await start({ EMBEDDER: 'local' })
    expect(replica.index.embedderId).toBe(LOCAL.id)
    await embed(LOCAL.id, tides, unit(DIMS, 1))
    await until(async () => `${await near(replica, unit(DIMS, 1))}` === keyOfProduct(tides), 'the new vector')
    expect(await near(replica, unit(DIMS, 0))).toEqual([keyOfProduct(weather)])
    expect(await near(replica, unit(4, 0))).toEqual([])
  })

  it('of the model of before answer until the configured one is ready', async () => {
    const [weather, tides] = [await add('Weather'), await add('Tides')]
    await model(LOCAL.id, DIMS, true)
    await model(OTHER, 4, false)
    await embed(LOCAL.id, weather, unit(DIMS, 0))
    await embed(OTHER, tides, unit(4, 0))
    const replica = await start(ENDPOINT)
    expect(replica.index.embedderId).toBe(LOCAL.id)
    expect(await near(replica, unit(DIMS, 0))).toEqual([keyOfProduct(weather)])
    await model(OTHER, 4, true)
    await until(() => replica.index.embedderId === OTHER, 'the other model')
    expect(await near(replica, unit(4, 0))).toEqual([keyOfProduct(tides)])
    expect(await near(replica, unit(DIMS, 0))).toEqual([])
  })

  it('are grouped, once they are many, by cells that one replica chooses for all', async () => {
    await model(OTHER, 4, true)
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`
        INSERT INTO chain.products SELECT ${chainId}, ${MERCHANT}, sha256(int8send(n)), 500, 0, 0, '', true, now()
        FROM generate_series(1, 5000) AS n`
      await tx`
        INSERT INTO market.products (chain_id, merchant_id, product_id, name)
        SELECT chain_id, merchant_id, product_id, 'Thing' FROM chain.products WHERE chain_id = ${chainId}`
      await tx`
        INSERT INTO market.listings
        SELECT chain_id, merchant_id, product_id, true, 0, '{}', '' FROM chain.products WHERE chain_id = ${chainId}`
      await tx`
        INSERT INTO market.product_vectors
        SELECT ${OTHER}, chain_id, merchant_id, product_id, '', substr(product_id, 1, 4) FROM chain.products WHERE chain_id = ${chainId}`
    })
    const both = await Promise.all([start(ENDPOINT), start(ENDPOINT)])
    const chosen = () => sql<{ vectors: number; chosen_at: Date }[]>`
      SELECT vectors, chosen_at FROM market.vector_cells WHERE chain_id = ${chainId}`
    await until(async () => (await chosen()).length > 0, 'cells')
    expect(await chosen()).toMatchObject([{ vectors: 5_000 }])
    const [{ chosen_at: first } = { chosen_at: undefined }] = await chosen()
    const answers = await Promise.all(both.map((replica) => near(replica, [100, 3, -20, 9])))
    expect(answers[0]).toHaveLength(1)
    expect(answers[1]).toEqual(answers[0])
    expect((await chosen())[0]?.chosen_at).toEqual(first)
  })
})
