import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { quantize } from '@referrer/search'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { queueTexts } from '../../derived/texts/queue.ts'
import { testConfig, testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { startWorkers, type Workers } from '../../machinery/workers/frame.ts'
import { until } from '../../machinery/workers/testing.ts'
import { EmbeddingFailed } from './embedder.ts'
import { servingEmbedder } from './store.ts'
import {
  type Asked,
  type EmbeddingServer,
  endpointConfig,
  gate,
  listProduct,
  startEmbeddingServer,
  vectorOf,
} from './testing.ts'
import { embeddingWorker, pauseAfter, sweepEmbedders } from './worker.ts'

const CHAIN = 7
const [SMALL, LARGE] = ['endpoint/small@4', 'endpoint/large@4']
let database: TestDatabase
let sql: Sql
let server: EmbeddingServer
let running: Workers[] = []

beforeAll(async () => {
  server = await startEmbeddingServer()
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(async () => {
  await server.close()
  await database.drop()
})
beforeEach(async () => {
  await sql`TRUNCATE market.embedders, market.listings, market.products, market.reviews, chain.reviews CASCADE`
  server.asked = []
  server.respond = () => undefined
})
afterEach(async () => {
  for (const workers of running) await workers.stop({ timeoutMs: 5_000 })
  running = []
})

const contextOf = (model = 'small') => testContext(sql, { config: endpointConfig(server.url, model) })

function run(context: Context): Workers {
  const workers = startWorkers({ workers: [embeddingWorker(context)], onEvent() {} })
  running.push(workers)
  return workers
}
async function stop(workers: Workers): Promise<void> {
  await workers.stop({ timeoutMs: 5_000 })
  running = running.filter((each) => each !== workers)
}

const waiting = async () =>
  sql<{ embedder: string; attempts: number; seconds: number }[]>`
    SELECT embedder_id AS embedder, attempts, extract(epoch FROM due_at - now())::float8 AS seconds
    FROM market.texts_to_embed ORDER BY id`
const isEmpty = async () => (await waiting()).length === 0
const isReady = async (embedder: string) =>
  (await sql`SELECT FROM market.embedders WHERE embedder_id = ${embedder} AND ready_at IS NOT NULL`).count > 0
const productVector = async (number: number, embedder = SMALL) => {
  const [row] = await sql<{ vector: Buffer }[]>`
    SELECT vector FROM market.product_vectors WHERE embedder_id = ${embedder} AND merchant_id = ${number}`
  return row && new Int8Array(row.vector)
}
const reviewVector = async (internalId: bigint | undefined, embedder = SMALL) => {
  const [row] = await sql<{ vector: Buffer }[]>`
    SELECT vector FROM market.review_vectors WHERE embedder_id = ${embedder} AND internal_id = ${internalId ?? 0n}`
  return row && new Int8Array(row.vector)
}
const of = (text: string) => quantize(vectorOf(text))
const allDue = () => sql`UPDATE market.texts_to_embed SET due_at = now()`
const inputs = () => server.asked.flatMap(({ input }) => input)
const queue = (number: number) =>
  sql.begin((tx) =>
    queueTexts(tx, CHAIN, [{ merchantId: BigInt(number), productId: Buffer.alloc(32, number) }]),
  )
const rename = (number: number, name: string) =>
  sql`UPDATE market.products SET name = ${name} WHERE merchant_id = ${number}`

describe('a model that is new', () => {
  it('embeds all that is listed, products before reviews, and is ready then', async () => {
    const { internalId } = await listProduct(sql, CHAIN, {
      number: 1,
      name: 'weather',
      review: 'never wrong',
    })
    await listProduct(sql, CHAIN, { number: 2, name: 'law' })
    const [before] = await sql`SELECT max(changed_in) AS last FROM market.listings`
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(inputs()).toEqual(['weather', 'law', 'never wrong'])
    expect(await productVector(1)).toEqual(of('weather'))
    expect(await productVector(2)).toEqual(of('law'))
    expect(await reviewVector(internalId)).toEqual(of('never wrong'))
    expect(await isEmpty()).toBe(true)
    const [after] = await sql`SELECT min(changed_in) AS first FROM market.listings`
    expect(BigInt(after?.first)).toBeGreaterThan(BigInt(before?.last))
  })

  it('leaves closed products alone', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather', review: 'fine' })
    await sql`UPDATE market.listings SET is_open = false`
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(server.asked).toEqual([])
  })

  it('misses nothing of a transaction that listed something and had not ended', async () => {
    const product = await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    await sql`DELETE FROM market.listings`
    const entered = gate()
    const held = gate()
    const listing = sql.begin(async (tx) => {
      await tx`
        INSERT INTO market.listings (chain_id, merchant_id, product_id, is_open, review_count, shortlist, evidence)
        VALUES (${CHAIN}, 1, ${product.productId}, true, 0, '{}', '')`
      await queueTexts(tx, CHAIN, [product])
      entered.open()
      await held.passed
    })
    await entered.passed
    run(contextOf().context)
    const isHeldUp = async () =>
      (
        await sql`
        SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = pg_locks.database
        WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`
      ).count > 0
    await until(isHeldUp, 'the model to wait')
    expect(server.asked).toEqual([])
    held.open()
    await listing
    await until(() => productVector(1), 'the vector')
  })
})

describe('a text', () => {
  it('that changes is embedded anew, and one that does not is not', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather', review: 'never wrong' })
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    await queue(1)
    expect(await isEmpty()).toBe(true)
    await rename(1, 'climate')
    await queue(1)
    await until(isEmpty, 'the queue to be empty')
    expect(await productVector(1)).toEqual(of('climate'))
    expect(inputs()).toEqual(['weather', 'never wrong', 'climate'])
  })

  it('that changes while it is embedded is embedded once more', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    const held = gate()
    server.respond = ({ input }) => (input.includes('weather') ? held.passed : undefined)
    run(contextOf().context)
    await until(() => server.asked.length === 1, 'the question')
    await rename(1, 'climate')
    await queue(1)
    held.open()
    await until(async () => (await isEmpty()) && (await productVector(1)), 'the queue to be empty')
    expect(await productVector(1)).toEqual(of('climate'))
  })

  it('of a product or a review that is gone meanwhile is left out', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather', review: 'never wrong' })
    await listProduct(sql, CHAIN, { number: 2, name: 'law' })
    server.respond = () => ({ status: 503, body: '' })
    const first = run(contextOf().context)
    await until(() => server.asked.length > 0, 'a question')
    await stop(first)
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`DELETE FROM chain.reviews`
      await tx`DELETE FROM market.products WHERE merchant_id = 2`
    })
    server.asked = []
    server.respond = () => undefined
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(inputs()).toEqual(['weather'])
  })

  it('that is blank has no direction, and is not asked for again', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: '' })
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(await productVector(1)).toEqual(new Int8Array(4))
    await queue(1)
    expect(await isEmpty()).toBe(true)
    expect(server.asked).toEqual([])
  })
})

describe('a text that alone cannot be embedded', () => {
  const refusePoison = ({ input }: Asked) =>
    input.some((text) => text.includes('poison')) ? { status: 400, body: '' } : undefined

  it('does not keep the others back, is tried five times at growing intervals, and then left', async () => {
    for (const [at, name] of ['weather', 'poison', 'law'].entries())
      await listProduct(sql, CHAIN, { number: at + 1, name })
    server.respond = refusePoison
    const { context, logged } = contextOf()
    run(context)
    const delays: number[] = []
    for (let attempt = 1; attempt < 5; attempt += 1) {
      const [row] = await until(async () => {
        const rows = await waiting()
        return rows.length === 1 && rows[0]?.attempts === attempt ? rows : undefined
      }, `attempt ${attempt}`)
      // Rounded up, because on a busy machine some of the time is over when it is read.
      delays.push(Math.ceil((row?.seconds ?? 0) / 60) * 60)
      await allDue()
    }
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(delays).toEqual([60, 360, 2_160, 12_960])
    expect(await productVector(1)).toEqual(of('weather'))
    expect(await productVector(3)).toEqual(of('law'))
    expect(await productVector(2)).toBeUndefined()
    expect(logged.filter((line) => line.includes('could not be embedded'))).toHaveLength(1)
    expect(logged.join()).not.toContain('sk-hidden')
  })

  it('is not blamed when the model refuses everything', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    await listProduct(sql, CHAIN, { number: 2, name: 'law' })
    server.respond = () => ({ status: 500, body: '' })
    const workers = run(contextOf().context)
    await until(() => workers.health()[0]?.state === 'failing', 'the worker to say so')
    expect((await waiting()).map(({ attempts }) => attempts)).toEqual([0, 0])
    expect(workers.health()[0]?.error).toContain('answered 500')
    server.respond = () => undefined
    await until(() => isReady(SMALL), 'the model to be ready')
    await until(() => workers.health()[0]?.state === 'running', 'the worker to say so, too')
    expect(workers.health()[0]).toMatchObject({ error: null })
  })
})

describe('after a failure', () => {
  const pause = (failures: number, retryAfterMs?: number) =>
    pauseAfter(new EmbeddingFailed('too many', 'later', { retryAfterMs }), failures, () => 1)

  it('waits longer each time, up to a minute', () => {
    expect([1, 2, 3, 50].map((failures) => pause(failures))).toEqual([1_000, 2_000, 4_000, 60_000])
    expect(pauseAfter(new Error('no database'), 2, () => 1)).toBe(2_000)
  })

  it('waits as long as the endpoint asks for, within reason', () => {
    expect([0, 7_000, 86_400_000].map((ms) => pause(1, ms))).toEqual([1_000, 7_000, 600_000])
  })
})

describe('several replicas', () => {
  it('share the work', async () => {
    for (let number = 1; number <= 200; number += 1)
      await listProduct(sql, CHAIN, { number, name: `product ${number}` })
    run(contextOf().context)
    run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    expect(inputs().sort()).toEqual(Array.from({ length: 200 }, (_, at) => `product ${at + 1}`).sort())
  })

  it('take over what one of them had when it died', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    await sql`INSERT INTO market.embedders (embedder_id, dims) VALUES (${SMALL}, 4)`
    await queue(1)
    // As after a crash between the model's answer and the write.
    await sql`UPDATE market.texts_to_embed SET due_at = now() + interval '60 seconds'`
    run(contextOf().context)
    await until(
      async () => (await sql`SELECT FROM market.embedders WHERE used_at > added_at`).count,
      'a look',
    )
    expect(await isReady(SMALL)).toBe(false)
    await allDue()
    await until(() => productVector(1), 'the vector')
  })

  it('give back what they have when they stop', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    server.respond = () => new Promise(() => {})
    const workers = run(contextOf().context)
    await until(() => server.asked.length === 1, 'the question')
    await stop(workers)
    expect((await waiting()).map(({ attempts, seconds }) => [attempts, seconds <= 0])).toEqual([[0, true]])
  })
})

describe('another model', () => {
  it('takes over when it has embedded everything; until then the one of before answers and goes on', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    const first = run(contextOf('small').context)
    await until(() => isReady(SMALL), 'the first model to be ready')
    await stop(first)

    const held = gate()
    server.respond = ({ model }) => (model === 'large' ? held.passed : undefined)
    run(contextOf('large').context)
    await until(() => server.asked.some(({ model }) => model === 'large'), 'the other model to be asked')
    expect(await servingEmbedder(sql, LARGE)).toBe(SMALL)
    await listProduct(sql, CHAIN, { number: 2, name: 'law' })
    await queue(2)
    expect(await until(() => productVector(2, SMALL), 'a vector of the first model')).toEqual(of('law'))
    expect(await productVector(1, LARGE)).toBeUndefined()
    held.open()
    await until(() => isReady(LARGE), 'the other model to be ready')
    expect(await productVector(2, LARGE)).toEqual(of('law'))
    expect(await servingEmbedder(sql, LARGE)).toBe(LARGE)
    // A replica that has not seen the new configuration yet.
    expect(await servingEmbedder(sql, SMALL)).toBe(SMALL)
  })

  it('that comes back has what it missed embedded', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
    await stop(await untilReady())
    await sql`UPDATE market.embedders SET used_at = now() - interval '1 day'`
    await rename(1, 'climate')
    await queue(1)
    expect(await isEmpty()).toBe(true)
    run(contextOf().context)
    await until(async () => (await productVector(1))?.join() === of('climate').join(), 'the new vector')
    expect(await servingEmbedder(sql, SMALL)).toBe(SMALL)
  })

  const untilReady = async () => {
    const workers = run(contextOf().context)
    await until(() => isReady(SMALL), 'the model to be ready')
    return workers
  }

  it('loses its vectors when nobody has used it for a week', async () => {
    await listProduct(sql, CHAIN, { number: 1, name: 'weather', review: 'fine' })
    await stop(await untilReady())
    const { signal } = new AbortController()
    const models = async () =>
      (await sql`SELECT embedder_id FROM market.embedders ORDER BY 1`).map(({ embedder_id }) => embedder_id)
    const sweep = (model?: string) =>
      sweepEmbedders(
        model === undefined
          ? testContext(sql, { config: testConfig({ EMBEDDER: 'off' }) }).context
          : contextOf(model).context,
      ).run({ signal, sql })

    await sql`UPDATE market.embedders SET used_at = now() - interval '6 days'`
    await sweep()
    expect(await models()).toEqual([SMALL])
    await sql`UPDATE market.embedders SET used_at = now() - interval '8 days'`
    await sweep('small')
    expect(await models()).toEqual([SMALL])
    await sql`UPDATE market.embedders SET used_at = now() - interval '8 days'`
    await sql`INSERT INTO market.vector_cells (chain_id, embedder_id, vectors, points) VALUES (${CHAIN}, ${SMALL}, 1, '')`
    await sweep()
    expect(await models()).toEqual([])
    expect((await sql`SELECT FROM market.product_vectors`).count).toBe(0)
    expect((await sql`SELECT FROM market.review_vectors`).count).toBe(0)
  })
})

describe('the model that answers', () => {
  const add = (id: string, readyAt: string | null) =>
    sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${id}, 4, ${readyAt})`
  const LOCAL = 'local/model-embeddings-en@0.2.0'

  it('is none where none is configured', async () => {
    await add(SMALL, '2026-01-01')
    expect(await servingEmbedder(sql, undefined)).toBeUndefined()
  })

  it('is the configured one when no other is ready', async () => {
    expect(await servingEmbedder(sql, SMALL)).toBe(SMALL)
    await add(LARGE, null)
    expect(await servingEmbedder(sql, SMALL)).toBe(SMALL)
  })

  it('is else the one that was ready last, if it can be asked', async () => {
    await add(LOCAL, '2026-01-01')
    await add(LARGE, '2026-01-02')
    await add('local/older@0.1.0', '2026-01-03')
    await add(SMALL, null)
    expect(await servingEmbedder(sql, SMALL)).toBe(LARGE)
    expect(await servingEmbedder(sql, 'local/newer@1')).toBe(LOCAL)
    await sql`UPDATE market.embedders SET ready_at = '2026-01-01' WHERE embedder_id = ${SMALL}`
    expect(await servingEmbedder(sql, SMALL)).toBe(SMALL)
  })
})

it('does nothing where texts are not to be embedded', async () => {
  await listProduct(sql, CHAIN, { number: 1, name: 'weather' })
  const workers = run(testContext(sql, { config: testConfig({ EMBEDDER: 'off' }) }).context)
  await queue(1)
  expect(await isEmpty()).toBe(true)
  await stop(workers)
  expect((await sql`SELECT FROM market.embedders`).count).toBe(0)
})
