import { Worker as Thread } from 'node:worker_threads'
import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { Secret } from '@referrer/process'
import { commonWords, cosine, type Vector } from '@referrer/search'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lockQueue } from '../../derived/texts/queue.ts'
import { testConfig, testContext } from '../../doors/http/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import { startWorkers, type Workers } from '../../machinery/workers/frame.ts'
import { createScheduler } from '../../machinery/workers/schedule.ts'
import { until } from '../../machinery/workers/testing.ts'
import { configuredId, embedderOf } from './embedders.ts'
import { COMMON, LOCAL, NEWEST_LEARNED, WORDS_FORMAT } from './ids.ts'
import { embedIntent } from './intents.ts'
import { type LearnOptions, learnSchedule } from './learn.ts'
import type { LearnData } from './learn-thread.ts'
import { readLessons } from './lessons.ts'
import { configuredEmbedder, servingEmbedder } from './store.ts'
import { type Taught, teach } from './testing.ts'
import { wordModels } from './words.ts'
import { newestLearned, outdateWords } from './words-store.ts'
import { embeddingWorker, queryModelWorker, sweepEmbedders } from './worker.ts'

const CHAIN = 7
const LEAST = 605
const SMALL = { least: LEAST, limits: { enough: LEAST, all: 10_000 } }
const never = new AbortController().signal
let database: TestDatabase
let sql: Sql
let running: Workers[] = []

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())
beforeEach(async () => {
  await sql.begin(async (tx) => {
    await tx`SELECT set_config('indexer.block', 'final', true)`
    await tx`TRUNCATE market.embedders, market.products, chain.identities CASCADE`
    // Row by row, for the triggers that count them.
    await tx`DELETE FROM market.listings`
  })
})
afterEach(async () => {
  for (const workers of running) await workers.stop({ timeoutMs: 5_000 })
  running = []
})

function contextOf(env: Record<string, string> = {}) {
  const config = testConfig({ EMBEDDER: 'learned', ...env })
  return testContext(sql, { config, databaseUrl: new Secret(database.url) })
}
function run(context: Context): void {
  running.push(startWorkers({ workers: [embeddingWorker(context, 20)], onEvent() {} }))
}
const learn = (context: Context, options: LearnOptions = SMALL, signal = never) =>
  learnSchedule(context, options).run({ signal, sql })
const newest = async () => (await newestLearned(sql))?.embedder
const isServing = async (id: string | undefined) => (await servingEmbedder(sql, NEWEST_LEARNED)) === id

/** More topics than a vector has dimensions for, each with words that are used together and mean nothing elsewhere. */
const LETTERS = [...'bdfgklmnprt']
const TOPICS = LETTERS.flatMap((first) =>
  LETTERS.map((second) => [...'fgkmp'].map((last) => `${first}o${second}a${last}ok`)),
)
const wordOf = (topic: number, at: number) => TOPICS[topic % TOPICS.length]?.[at % 5] ?? ''
/** A product says three words of its topic. */
function productOf(at: number): Taught {
  const first = Math.floor(at / TOPICS.length)
  const words = [0, 1, 3].map((step) => wordOf(at, first + step))
  return { owner: 1 + (at % 60), name: words.join(' '), description: `nr${at}` }
}
const products = (count: number, from = 0) => Array.from({ length: count }, (_, at) => productOf(from + at))

async function vectorsOf(context: Context, words: readonly string[]): Promise<Map<string, Vector>> {
  const embedder = await embedderOf(context, (await newest()) ?? '')
  const vectors = (await embedder?.embed(words)) ?? []
  return new Map(words.map((word, at) => [word, vectors[at] as Vector]))
}

/** The part of the words next to which is a word of the same topic. */
async function understood(context: Context): Promise<number> {
  const vectors = await vectorsOf(context, TOPICS.flat())
  const topics = new Map(TOPICS.flatMap((words, topic) => words.map((word) => [word, topic])))
  let right = 0
  for (const [word, vector] of vectors) {
    let nearest = { word: '', nearness: -1 }
    for (const [other, its] of vectors) {
      const nearness = other === word ? -1 : cosine(vector, its)
      if (nearness > nearest.nearness) nearest = { word: other, nearness }
    }
    if (topics.get(nearest.word) === topics.get(word)) right += 1
  }
  return right / vectors.size
}

it('knows the format and the length of the word vectors that it stores', () => {
  const common = commonWords()
  expect(common.dims).toBe(COMMON.dims)
  expect(common.write().toString('latin1', 0, WORDS_FORMAT.length)).toBe(WORDS_FORMAT)
})

describe('a market', () => {
  it('has the common word vectors until it is large enough, and its own then', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST - 1))
    await learn(context)
    expect(await newest()).toBeUndefined()
    expect(await configuredEmbedder(sql, NEWEST_LEARNED)).toBe(COMMON.id)
    await teach(sql, CHAIN, products(1, LEAST - 1))
    await learn(context)
    const id = await newest()
    expect(id).toMatch(/^learned\/\d+@\d+$/)
    expect(await configuredEmbedder(sql, NEWEST_LEARNED)).toBe(id)
    expect(await understood(context)).toBeGreaterThan(0.9)
  })

  it('with EMBEDDER=auto has the local model until word vectors were learned, and 5,000 products are needed for these', async () => {
    const { context } = contextOf({ EMBEDDER: 'auto' })
    expect(await configuredEmbedder(sql, configuredId(context.config.embedder))).toBe(LOCAL.id)
    await teach(sql, CHAIN, products(LEAST))
    await learn(context, { limits: SMALL.limits })
    expect(await newest()).toBeUndefined()
    await learn(context)
    expect(await configuredEmbedder(sql, configuredId(context.config.embedder))).toBe(await newest())
  })

  it('learns again when it has twice as many products, when it was asked to, and not before', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    await learn(context)
    const first = await newest()
    await teach(sql, CHAIN, products(LEAST - 1, LEAST))
    await learn(context)
    expect(await newest()).toBe(first)
    await teach(sql, CHAIN, products(1, 2 * LEAST))
    await learn(context)
    const second = await newest()
    expect(second).not.toBe(first)
    await outdateWords(sql)
    await learn(context)
    expect(await newest()).not.toBe(second)
  })

  it('learns again after a month if a tenth of the products was described since', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    await learn(context)
    const first = await newest()
    await sql`UPDATE market.word_vectors SET learned_at = now() - interval '29 days'`
    await sql`UPDATE market.products SET described_at = now() - interval '1 day'`
    await learn(context)
    expect(await newest()).toBe(first)
    await sql`UPDATE market.word_vectors SET learned_at = now() - interval '31 days'`
    await sql`
      UPDATE market.products SET described_at = NULL
      WHERE product_id NOT IN (SELECT product_id FROM market.products ORDER BY product_id LIMIT ${Math.floor(LEAST / 10)})`
    await learn(context)
    expect(await newest()).toBe(first)
    await sql`UPDATE market.products SET described_at = now()`
    await learn(context)
    expect(await newest()).not.toBe(first)
  })

  it('does not learn from closed products', async () => {
    await teach(sql, CHAIN, products(120))
    await sql`UPDATE market.listings SET is_open = false WHERE merchant_id <= 30`
    expect(await readLessons(sql, SMALL.limits)).toHaveLength(60)
  })
})

describe('an owner', () => {
  const HONEST = products(LEAST)
  /** Products of one owner with words of three topics each. */
  const flood = (count: number): Taught[] =>
    Array.from({ length: count }, (_, at) => {
      const words = [0, 40, 80].map((step) => wordOf(at + step, Math.floor(at / 7) + step))
      return { owner: 1_000, name: words.join(' '), description: `angebot${at}` }
    })
  const LIMITS = { enough: 300, all: 200_000 }

  it('with nine of ten products does not change what the words of others mean', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, [...HONEST, ...flood(9 * HONEST.length)])
    await learn(context, { least: LEAST, limits: LIMITS })
    expect(await understood(context)).toBeGreaterThan(0.9)
  })

  it('teaches a few products at most, the same each time', async () => {
    await teach(sql, CHAIN, [...HONEST, ...flood(9 * HONEST.length)])
    const names = async () => (await readLessons(sql, LIMITS)).map(({ description }) => description)
    const lessons = await names()
    const flooded = lessons.filter((description) => description.startsWith('angebot'))
    expect(lessons.length - flooded.length).toBe(HONEST.length)
    expect(flooded.length).toBeLessThanOrEqual(20)
    expect(flooded.length).toBeGreaterThan(0)
    expect(await names()).toEqual(lessons)
  })

  it('is sampled evenly where there is more than is read', async () => {
    await teach(sql, CHAIN, HONEST)
    const lessons = await readLessons(sql, { enough: 100, all: 300 })
    expect(lessons.length).toBeGreaterThan(200)
    expect(lessons.length).toBeLessThanOrEqual(300)
    const places = lessons.map(({ description }) => Number(description.slice(2)))
    for (let part = 0; part < 5; part += 1) {
      const inPart = places.filter((place) => Math.floor((5 * place) / LEAST) === part)
      expect(inPart.length).toBeGreaterThan(30)
    }
  })
})

describe('new word vectors', () => {
  it('serve when all is embedded with them; those of before serve until then, and are deleted', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    run(context)
    await until(() => isServing(COMMON.id), 'the common ones')
    await learn(context)
    const first = await newest()
    await until(() => isServing(first), 'the first ones to serve')
    await teach(sql, CHAIN, products(LEAST, LEAST))
    await learn(context)
    const second = await newest()
    expect(second).not.toBe(first)
    await until(() => isServing(second), 'the second ones to serve')
    const [counted] =
      await sql`SELECT count(*)::integer FROM market.product_vectors WHERE embedder_id = ${second ?? ''}`
    expect(counted?.count).toBe(2 * LEAST)

    const left = async () =>
      (await sql`SELECT embedder_id FROM market.embedders ORDER BY 1`).map(({ embedder_id }) => embedder_id)
    await sql`UPDATE market.embedders SET used_at = now() - interval '2 days'`
    await sweepEmbedders(context).run({ signal: never, sql })
    expect(await left()).toEqual([COMMON.id, second].sort())
    expect((await sql`SELECT FROM market.word_vectors`).count).toBe(1)
    expect(await embedderOf(contextOf().context, first ?? '')).toBeUndefined()
  })

  it('are read by a process that starts later, and give the same vectors', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    await learn(context)
    const id = (await newest()) ?? ''
    await embedderOf(context, id)
    const before = await embedIntent(context, wordOf(0, 0), id)
    expect(before?.some((value) => value !== 0)).toBe(true)
    const later = contextOf().context
    await embedderOf(later, id)
    expect(await embedIntent(later, wordOf(0, 0), id)).toEqual(before)
  })

  it('are loaded by a process that only answers, before they serve', async () => {
    const { context } = contextOf({ ROLES: 'api' })
    running.push(startWorkers({ workers: [queryModelWorker(context)], onEvent() {} }))
    await until(() => wordModels(context).loaded(COMMON.id), 'the common ones')
    await sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${COMMON.id}, ${COMMON.dims}, now())`
    await teach(sql, CHAIN, products(LEAST))
    await learn(contextOf().context)
    const id = (await newest()) ?? ''
    await until(() => wordModels(context).loaded(id), 'the learned ones')
    expect(await isServing(id)).toBe(false)
  })

  it('of another format are left to the version that wrote them', async () => {
    await teach(sql, CHAIN, products(LEAST))
    await learn(contextOf().context)
    await sql`UPDATE market.word_vectors SET format = 'RWV9'`
    await sql`UPDATE market.embedders SET ready_at = now()`
    expect(await configuredEmbedder(sql, NEWEST_LEARNED)).toBe(COMMON.id)
    expect(await servingEmbedder(sql, NEWEST_LEARNED)).toBe(COMMON.id)
  })
})

describe('after an upgrade', () => {
  it('the vectors of the local model serve until there are others', async () => {
    await teach(sql, CHAIN, products(LEAST))
    await sql`INSERT INTO market.embedders (embedder_id, dims, ready_at) VALUES (${LOCAL.id}, ${LOCAL.dims}, now())`
    expect(await servingEmbedder(sql, NEWEST_LEARNED)).toBe(LOCAL.id)
    const { context } = contextOf()
    run(context)
    await until(() => isServing(COMMON.id), 'the common ones')
    await learn(context)
    const id = await newest()
    await until(() => isServing(id), 'the learned ones')
    // A replica of the version before, or one with EMBEDDER=local.
    expect(await servingEmbedder(sql, LOCAL.id)).toBe(LOCAL.id)
  })
})

describe('a lesson', () => {
  const nothingIsLeft = async () => {
    expect((await sql`SELECT FROM market.word_vectors`).count).toBe(0)
    expect((await sql`SELECT FROM market.embedders`).count).toBe(0)
    expect((await sql`SELECT FROM market.texts_to_embed`).count).toBe(0)
  }
  const spawn = (workerData: LearnData) =>
    new Thread(new URL('./learn-thread.ts', import.meta.url), { workerData })
  /** Begins a lesson, and acts when it has learned and is about to store. */
  async function whenStoring(begin: () => Promise<unknown>, act: () => void): Promise<unknown> {
    const isHeldUp = async () =>
      (
        await sql`
        SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = pg_locks.database
        WHERE locktype = 'advisory' AND NOT granted AND datname = current_database()`
      ).count > 0
    return sql.begin(async (tx) => {
      await lockQueue(tx)
      const failed = begin().then(
        () => undefined,
        (error) => error,
      )
      await until(isHeldUp, 'the lesson to be stored')
      act()
      return failed
    })
  }
  const isOver = () =>
    until(
      async () =>
        (
          await sql`SELECT FROM pg_stat_activity WHERE application_name = 'referrer learning' AND datname = current_database()`
        ).count === 0,
      'its connection to end',
    )

  it('that dies in the middle leaves nothing, fails, and is repeated later', async () => {
    const clock = { now: Date.now() }
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    const threads: Thread[] = []
    const noted = (data: LearnData) => {
      const thread = spawn(data)
      threads.push(thread)
      return thread
    }
    const schedule = learnSchedule({ ...context, clock: () => clock.now }, { ...SMALL, spawn: noted })
    const run = () => schedule.run({ signal: never, sql })
    const failure = await whenStoring(run, () => void threads[0]?.terminate())
    expect(String(failure)).toContain('ended without a result')
    await isOver()
    await nothingIsLeft()
    await run()
    expect(threads).toHaveLength(1)
    clock.now += 60_000
    await run()
    expect(await newest()).toBeDefined()
  })

  it('ends when the service stops, and leaves nothing', async () => {
    const { context } = contextOf()
    await teach(sql, CHAIN, products(LEAST))
    const stop = new AbortController()
    const failure = await whenStoring(
      () => learn(context, SMALL, stop.signal),
      () => stop.abort(new Error('the service stops')),
    )
    expect(String(failure)).toContain('the service stops')
    await isOver()
    await nothingIsLeft()
  })

  it('is done by one of two replicas', async () => {
    await teach(sql, CHAIN, products(LEAST))
    const events: string[] = []
    let lessons = 0
    const counted = (data: LearnData) => {
      lessons += 1
      return spawn(data)
    }
    for (const holder of ['one', 'two']) {
      const schedules = [learnSchedule(contextOf().context, { ...SMALL, spawn: counted })]
      const options = {
        sql,
        schedules,
        holder,
        pollMs: 10,
        onEvent: ({ type }: { type: string }) => events.push(type),
      }
      running.push(startWorkers({ workers: [createScheduler(options)], onEvent() {} }))
    }
    await until(() => events.includes('schedule.done'), 'the lesson')
    await sql`UPDATE jobs.schedules SET next_run_at = now()`
    await until(() => events.length === 2, 'the next run')
    expect(lessons).toBe(1)
    expect((await sql`SELECT FROM market.word_vectors`).count).toBe(1)
  })

  it('counts once even if two replicas learn at the same time', async () => {
    await teach(sql, CHAIN, products(LEAST))
    const { context, logged } = contextOf()
    await Promise.all([learn(context), learn(context)])
    expect((await sql`SELECT FROM market.word_vectors`).count).toBe(1)
    expect(logged.filter((line) => line.includes('another replica'))).toHaveLength(1)
  })
})
