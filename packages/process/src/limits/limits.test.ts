import { setTimeout as sleep } from 'node:timers/promises'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import fc from 'fast-check'
import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createAsking } from './asking.ts'
import { openWay, type WayToPostgres } from './cut-off.fixture.ts'
import { type Limiter, type Limits, openLimits } from './limits.ts'
import { limitsMigrations } from './postgres.ts'
import { createSharedLimiter } from './shared.ts'
import { createPostgresStore } from './testing.ts'

const silent = pino({ level: 'silent' })
/** Long, because a busy machine is slow and a time-out would be another case. */
const PATIENT_MS = 10_000

let database: TestDatabase
let now = 1_790_000_000_000
const clock = () => now

beforeAll(async () => {
  database = await freshDatabase([limitsMigrations])
})
afterAll(async () => {
  await database.drop()
})

const openOn = (
  url: string,
  { timeoutMs = PATIENT_MS, log = silent, ownClock = false } = {},
): Promise<Limits> =>
  openLimits(
    { store: 'postgres', timeoutMs },
    { program: 'test', databaseUrl: url, clock, storeClock: ownClock ? undefined : clock, log },
  )

/** Two replicas over one store. */
async function withReplicas(work: (replicas: [Limits, Limits]) => Promise<void>): Promise<void> {
  const replicas: [Limits, Limits] = [await openOn(database.url), await openOn(database.url)]
  try {
    await work(replicas)
  } finally {
    for (const each of replicas) await each.close()
  }
}

/** How many of so many takes pass, sent to the limiters in turn. */
async function passes(limiters: readonly Limiter[], client: string, count: number): Promise<number> {
  let passed = 0
  for (let sent = 0; sent < count; sent += 1) {
    passed += Number((await (limiters[sent % limiters.length] as Limiter)(client)) === 0)
  }
  return passed
}

describe('two replicas over postgres', () => {
  it('let pass a burst together, not one each, and then as many a second as the rate says', () =>
    withReplicas(async (replicas) => {
      const limiters = replicas.map((each) => each.limiter('small', { perSecond: 2, burst: 5 }))
      expect(await passes(limiters, 'a', 12)).toBe(5)
      expect(await passes(limiters, 'b', 12)).toBe(5)
      now += 1_500
      expect(await passes(limiters, 'a', 8)).toBe(3)
      now += 3_600_000
      expect(await passes(limiters, 'a', 12)).toBe(5)
    }))

  it('let pass exactly the burst of a busy client too, for which tokens are taken ahead', () =>
    withReplicas(async (replicas) => {
      const limiters = replicas.map((each) => each.limiter('large', { perSecond: 50, burst: 100 }))
      expect(await passes(limiters, 'a', 250)).toBe(100)
      const together = await Promise.all(
        Array.from({ length: 250 }, (_, sent) => (limiters[sent % 2] as Limiter)('b')),
      )
      // Tokens that one replica has taken ahead wait there for the client's next requests.
      expect(together.filter((seconds) => seconds === 0).length + (await passes(limiters, 'b', 50))).toBe(100)
    }))

  it('say the same time to wait, and that is enough', () =>
    withReplicas(async (replicas) => {
      const [one, other] = replicas.map((each) => each.limiter('waits', { perSecond: 4, burst: 1 })) as [
        Limiter,
        Limiter,
      ]
      expect(await one('a')).toBe(0)
      now += 100
      expect(await other('a')).toBeCloseTo(0.15, 6)
      expect(await one('a')).toBeCloseTo(0.15, 6)
      now += 50
      const seconds = await other('a')
      expect(seconds).toBeCloseTo(0.1, 6)
      now += seconds * 1_000
      expect(await other('a')).toBe(0)
      expect(await one('a')).toBeGreaterThan(0)
    }))

  it('never let pass more than the limit, whatever the times, and whoever asks where', () =>
    withReplicas(async (replicas) => {
      const step = fc.record({
        afterMs: fc.nat(1_200),
        replica: fc.nat(1),
        client: fc.constantFrom('a', 'b'),
      })
      let run = 0
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { maxLength: 60 }),
          fc.integer({ min: 1, max: 20 }),
          fc.integer({ min: 1, max: 40 }),
          async (steps, perSecond, burst) => {
            run += 1
            const limiters = replicas.map((each) => each.limiter(`run ${run}`, { perSecond, burst }))
            const passed = new Map<string, number>()
            const beganAt = now
            for (const { afterMs, replica, client } of steps) {
              now += afterMs
              if ((await (limiters[replica] as Limiter)(client)) === 0)
                passed.set(client, (passed.get(client) ?? 0) + 1)
              expect(passed.get(client) ?? 0).toBeLessThanOrEqual(
                burst + ((now - beganAt) * perSecond) / 1_000 + 1e-3,
              )
            }
          },
        ),
        { numRuns: 12 },
      )
    }))

  it('agree although their own clocks do not: that of the store counts', async () => {
    const ahead: Limits = await openOn(database.url, { ownClock: true })
    const limiter = ahead.limiter('clocks', { perSecond: 1 / 3_600, burst: 2 })
    expect(await passes([limiter], 'a', 3)).toBe(2)
    await ahead.close()
    now += 7_200_000
    const other = await openOn(database.url, { ownClock: true })
    expect(await passes([other.limiter('clocks', { perSecond: 1 / 3_600, burst: 2 })], 'a', 3)).toBe(0)
    await other.close()
  })
})

describe('a request that costs more than one token', () => {
  it('takes all of them or none, and says when they are there', async () => {
    const limits = await openOn(database.url)
    const limiter = limits.limiter('costs', { perSecond: 2, burst: 10 })
    expect(await limiter('a', 8)).toBe(0)
    const seconds = await limiter('a', 4)
    expect(seconds).toBeGreaterThanOrEqual(1)
    now += seconds * 1_000
    expect(await limiter('a', 4)).toBe(0)
    // More than there ever are: the whole burst.
    expect(await limiter('b', 1_000)).toBe(0)
    expect(await limiter('b')).toBeGreaterThan(0)
    await limits.close()
  })
})

describe('a busy client', () => {
  it('costs few questions, and one that is over its limit none', async () => {
    const store = createPostgresStore(database.url, { clock, log: silent })
    const take = vi.spyOn(store, 'take')
    const asking = await createAsking(store, { timeoutMs: PATIENT_MS, log: silent })
    const limiter = createSharedLimiter('busy', { perSecond: 50, burst: 1_000 }, { asking, clock })
    take.mockClear()
    expect(await passes([limiter], 'a', 1_000)).toBe(1_000)
    expect(take.mock.calls.length).toBeLessThan(25)
    expect(await limiter('a')).toBeGreaterThan(0)
    take.mockClear()
    expect(await passes([limiter], 'a', 100)).toBe(0)
    expect(take).not.toHaveBeenCalled()
    await asking.close()
  })

  it('of many that come together shares one question with them', async () => {
    const store = createPostgresStore(database.url, { clock, log: silent })
    const asking = await createAsking(store, { timeoutMs: PATIENT_MS, log: silent })
    const take = vi.spyOn(store, 'take')
    const limiter = createSharedLimiter('crowd', { perSecond: 1, burst: 3 }, { asking, clock })
    const seconds = await Promise.all(Array.from({ length: 200 }, (_, at) => limiter(`client ${at % 50}`)))
    expect(seconds.filter((each) => each === 0)).toHaveLength(150)
    expect(take).toHaveBeenCalledTimes(1)
    await asking.close()
  })

  it('loses what was taken ahead for it after a second, so that its limit holds', async () => {
    const limits = await openOn(database.url)
    const limiter = limits.limiter('leases', { perSecond: 1, burst: 40 })
    expect(await passes([limiter], 'a', 10)).toBe(10)
    now += 1_000
    // Ten have passed and one has come back; what was taken ahead is gone.
    const left = await passes([limiter], 'a', 60)
    expect(left).toBeGreaterThanOrEqual(31 - 4)
    expect(left).toBeLessThanOrEqual(31)
    await limits.close()
  })
})

describe('the name of a client', () => {
  it('makes no long key, and two long names stay two', async () => {
    const limits = await openOn(database.url)
    const limiter = limits.limiter('names', { perSecond: 1, burst: 1 })
    expect(await limiter('x'.repeat(100_000))).toBe(0)
    expect(await limiter(`${'x'.repeat(100_000)}y`)).toBe(0)
    expect(await limiter('x'.repeat(100_000))).toBeGreaterThan(0)
    const [row] = await database.sql<{ longest: number }[]>`
      SELECT max(length(key)) AS longest FROM limits.buckets WHERE key LIKE '% names %'`
    expect(row?.longest).toBeLessThan(100)
    expect(limits.isUp()).toBe(true)
    await limits.close()
  })
})

describe('when postgres goes away', () => {
  let server: WayToPostgres
  beforeAll(async () => {
    server = await openWay(database.url)
  })
  afterAll(() => server.kill())

  /** The lines that two replicas log, and their limiters; each test has clients of its own. */
  async function opened(timeoutMs: number) {
    const lines: { level: number; msg: string }[] = []
    const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) })
    const replicas = [
      await openOn(server.url, { timeoutMs, log }),
      await openOn(server.url, { timeoutMs, log }),
    ]
    const limiters = replicas.map((each) => each.limiter('outage', { perSecond: 1, burst: 5 }))
    const close = () => Promise.all(replicas.map((each) => each.close()))
    const areUp = (isUp: boolean) => replicas.every((each) => each.isUp() === isUp)
    return { lines, limiters, close, areUp }
  }

  it('each replica counts alone, one that starts then too, and they share again when it is back', async () => {
    const { lines, limiters, close, areUp } = await opened(PATIENT_MS)
    expect(await passes(limiters, 'before', 4)).toBe(4)
    await server.kill()
    // Each has let two pass, and may go on to its own five.
    expect(await passes(limiters, 'before', 20)).toBe(6)
    expect(await passes(limiters, 'meanwhile', 20)).toBe(10)
    expect(areUp(false)).toBe(true)
    expect(lines.filter(({ level }) => level >= 40)).toHaveLength(2)
    const third = await openOn(server.url)
    expect(await passes([third.limiter('outage', { perSecond: 1, burst: 5 })], 'meanwhile', 20)).toBe(5)
    await server.start()
    await expect.poll(() => areUp(true) && third.isUp()).toBe(true)
    await third.close()
    expect(await passes(limiters, 'after', 20)).toBe(5)
    expect(lines.map(({ msg }) => msg).filter((msg) => msg.includes('answers again'))).toHaveLength(2)
    await close()
  })

  it('although its connections stay open, a request waits for it once and no more', async () => {
    const { lines, limiters, close, areUp } = await opened(100)
    // A busy machine may have been too slow already.
    await expect.poll(() => areUp(true)).toBe(true)
    server.freeze()
    expect(await passes(limiters, 'frozen', 20)).toBe(10)
    expect(areUp(false)).toBe(true)
    expect(lines.filter(({ level }) => level >= 40).length).toBeGreaterThanOrEqual(2)
    server.thaw()
    await expect.poll(() => areUp(true)).toBe(true)
    await close()
  })
})

it('a program that ends does not wait for a store that is away', async () => {
  const limits = await openOn('postgres://nobody@127.0.0.1:1/nothing')
  expect(limits.isUp()).toBe(false)
  await Promise.race([limits.close(), sleep(60_000).then(() => expect.fail('it waits'))])
})
