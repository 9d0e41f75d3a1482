import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Bucket, FULL, takeFrom, takenOf } from './bucket.ts'
import { limitsMigrations, type PostgresStore } from './postgres.ts'
import type { Question, Store } from './store.ts'
import { createPostgresStore } from './testing.ts'

let database: TestDatabase
let now = 0
let postgresStore: PostgresStore

beforeAll(async () => {
  database = await freshDatabase([limitsMigrations])
  const clock = () => now
  postgresStore = createPostgresStore(database.url, { clock, log: pino({ level: 'silent' }) })
})
afterAll(async () => {
  await postgresStore.close()
  await database.drop()
})

/** The same in memory: what all stores should answer. */
function modelStore(): (questions: readonly Question[]) => unknown[] {
  const buckets = new Map<string, Bucket>()
  return (questions) =>
    questions.map(({ key, rate, wanted }) => {
      const after = takeFrom(buckets.get(key) ?? FULL, now, rate, wanted)
      buckets.set(key, after)
      return takenOf(after, rate, wanted)
    })
}

/** Keys of one run, so that no run meets the buckets of another. */
let runs = 0
const RATES = [
  { perSecond: 2, burst: 3 },
  { perSecond: 3, burst: 7 },
  { perSecond: 50, burst: 100 },
  { perSecond: 1 / 60, burst: 1 },
  { perSecond: 100_000, burst: 100_000 },
]
const CLIENTS = ['a', 'b', 'c'] as const
const batch = fc.record({
  afterMs: fc.oneof(
    { weight: 5, arbitrary: fc.double({ min: 0, max: 700, noNaN: true }) },
    { weight: 2, arbitrary: fc.constantFrom(0, 20, 250, 500, 1_000) },
    { weight: 2, arbitrary: fc.constantFrom(-1_000, -10, 3_600_000) },
  ),
  clients: fc.subarray([...CLIENTS], { minLength: 1 }),
  wanted: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30 })),
})
const sequences = fc.record({
  rates: fc.record({
    a: fc.constantFrom(...RATES),
    b: fc.constantFrom(...RATES),
    c: fc.constantFrom(...RATES),
  }),
  batches: fc.array(batch, { minLength: 10, maxLength: 25 }),
})

describe('the store', () => {
  it('answers every sequence of questions as a bucket in memory does, whatever the times', async () => {
    await fc.assert(
      fc.asyncProperty(sequences, async ({ rates, batches }) => {
        const run = runs++
        const expected = modelStore()
        now = 1_790_000_000_000
        for (const { afterMs, clients, wanted } of batches) {
          now += afterMs
          const asked = clients.map((client) => ({
            key: `${run} ${client}`,
            rate: rates[client],
            wanted,
          }))
          expect(await postgresStore.take(asked)).toEqual(expected(asked))
        }
      }),
      { numRuns: 25 },
    )
  })

  it('gives each token once, however many replicas ask at the same time', async () => {
    const options = { clock: () => now, log: pino({ level: 'silent' }) }
    const open = () => createPostgresStore(database.url, options)
    const replicas = [open(), open(), open()]
    const rate = { perSecond: 1, burst: 40 }
    const keys = ['x', 'y', 'z'].map((key) => `together ${key}`)
    const answers = await Promise.all(
      Array.from({ length: 30 }, (_, at) =>
        (replicas[at % 3] as Store).take(keys.map((key) => ({ key, rate, wanted: 3 }))),
      ),
    )
    for (const [place] of keys.entries()) {
      expect(answers.reduce((sum, each) => sum + (each[place]?.granted ?? 0), 0)).toBe(40)
    }
    for (const replica of replicas) await replica.close()
  })

  it('counts by a clock of its own when none is set', async () => {
    const store = createPostgresStore(database.url, { log: pino({ level: 'silent' }) })
    const ask = () => store.take([{ key: 'own clock', rate: { perSecond: 1 / 3_600, burst: 2 }, wanted: 2 }])
    expect(await ask()).toEqual([{ granted: 2, waitSeconds: 0 }])
    const [second] = await ask()
    expect(second?.granted).toBe(0)
    expect(second?.waitSeconds).toBeGreaterThan(3_500)
    expect(second?.waitSeconds).toBeLessThanOrEqual(3_600)
    await store.close()
  })
})

describe('the table of buckets', () => {
  const keys = async () =>
    (await database.sql<{ key: string }[]>`SELECT key FROM limits.buckets ORDER BY key`).map(({ key }) => key)
  const ask = (key: string, wanted: number) =>
    postgresStore.take([{ key, rate: { perSecond: 1, burst: 10 }, wanted }])

  it('forgets the buckets that are full again, and only those', async () => {
    await database.sql`DELETE FROM limits.buckets`
    await ask('soon full', 1)
    await ask('full later', 5)
    now += 1_000
    await postgresStore.sweep()
    expect(await keys()).toEqual(['full later'])
  })

  it('keeps a bounded number: those that are nearly full are forgotten first', async () => {
    await database.sql`DELETE FROM limits.buckets`
    for (const [at, key] of ['a', 'b', 'c', 'd', 'e'].entries()) await ask(key, 9 - at)
    await postgresStore.sweep(3)
    expect(await keys()).toEqual(['a', 'b', 'c'])
  })
})
