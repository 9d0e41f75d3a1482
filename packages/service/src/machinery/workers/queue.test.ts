import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../db/migrations.ts'
import { LeaseLostError } from './errors.ts'
import { bury, claim, complete, enqueue, release, renew, retry, revive } from './queue.ts'

let database: TestDatabase
let sql: TestDatabase['sql']

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())
beforeEach(() => sql`TRUNCATE jobs.live, jobs.dead`)

const take = (limit = 1, leaseMs = 60_000, holder = 'a') =>
  claim(sql, { queue: 'mail', limit, leaseMs, holder })

async function takeOne(leaseMs?: number, holder?: string) {
  const [job] = await take(1, leaseMs, holder)
  if (!job) throw new Error('there is no job to take')
  return job
}

/** As if the time of the lease had passed. */
const expireLeases = () =>
  sql`UPDATE jobs.live SET lease_until = now() - INTERVAL '1 second' WHERE lease_token IS NOT NULL`

describe('enqueue', () => {
  it('leaves nothing behind when its transaction is rolled back', async () => {
    const rollback = new Error('no')
    const doomed = sql.begin(async (tx) => {
      await enqueue(tx, { queue: 'mail', payload: { to: 1 } })
      throw rollback
    })
    await expect(doomed).rejects.toBe(rollback)
    expect(await take()).toEqual([])
  })

  it('makes one job of twenty that come at once with the same key', async () => {
    const ids = await Promise.all(
      Array.from({ length: 20 }, () =>
        sql.begin((tx) => enqueue(tx, { queue: 'mail', key: 'welcome 7', payload: {} })),
      ),
    )
    expect(ids.filter((id) => id !== null)).toHaveLength(1)
    expect(await take(20)).toHaveLength(1)
  })

  it('keeps the key of a running job taken and frees that of a finished one', async () => {
    const job = { queue: 'mail', key: 'k', payload: {} }
    await enqueue(sql, job)
    const running = await takeOne()
    expect(await enqueue(sql, job)).toBeNull()
    expect(await enqueue(sql, { ...job, queue: 'other' })).not.toBeNull()
    await complete(sql, running)
    expect(await enqueue(sql, job)).not.toBeNull()
  })

  it('waits for a running job to end before it decides whether its key is free', async () => {
    const job = { queue: 'mail', key: 'k', payload: {} }
    await enqueue(sql, job)
    const running = await takeOne()
    let again: Promise<bigint | null> | undefined
    await sql.begin(async (tx) => {
      await complete(tx, running)
      again = Promise.resolve(enqueue(sql, job))
      await tx`SELECT pg_sleep(0.05)`
    })
    expect(await again).not.toBeNull()
  })

  it('gives the payload back as it came', async () => {
    const payload = { text: 'ä "quoted"', list: [1, null, { deep: true }] }
    await enqueue(sql, { queue: 'mail', payload })
    expect((await takeOne()).payload).toEqual(payload)
  })
})

describe('claim', () => {
  it('takes due jobs in the order of their time, then of their id, and leaves later ones', async () => {
    const at = (seconds: number) => new Date(Date.now() + seconds * 1_000)
    const second = await enqueue(sql, { queue: 'mail', payload: { n: 2 }, runAt: at(-10) })
    const third = await enqueue(sql, { queue: 'mail', payload: { n: 3 } })
    const first = await enqueue(sql, { queue: 'mail', payload: { n: 1 }, runAt: at(-20) })
    await enqueue(sql, { queue: 'mail', payload: { n: 4 }, runAt: at(60) })
    const taken = [await take(), await take(), await take(), await take()].flat()
    expect(taken.map(({ id }) => id)).toEqual([first, second, third])
  })

  it('passes over what another worker is just taking', async () => {
    for (let n = 0; n < 2; n++) await enqueue(sql, { queue: 'mail', payload: { n } })
    let second: ReturnType<typeof take> | undefined
    const first = await sql.begin(async (tx) => {
      const taken = await claim(tx, { queue: 'mail', limit: 1, leaseMs: 60_000, holder: 'a' })
      second = take(1, 60_000, 'b')
      await tx`SELECT pg_sleep(0.1)`
      return taken
    })
    expect([...first, ...((await second) ?? [])].map(({ payload }) => payload)).toEqual([{ n: 0 }, { n: 1 }])
  })

  it('finds the first of many jobs through its index', async () => {
    await sql`INSERT INTO jobs.live (queue, payload, max_attempts, run_at)
      SELECT 'q' || n % 5, '{}', 1, now() - n * INTERVAL '1 second' FROM generate_series(1, 20000) n`
    await sql`ANALYZE jobs.live`
    const plan = await sql<{ 'QUERY PLAN': string }[]>`
      EXPLAIN SELECT id FROM jobs.live
      WHERE queue = 'q1' AND run_at <= now() AND (lease_until IS NULL OR lease_until < now())
      ORDER BY run_at, id LIMIT 10 FOR UPDATE SKIP LOCKED`
    const text = plan.map((line) => line['QUERY PLAN']).join('\n')
    expect(text).toContain('Index Scan using live_claim')
    expect(text).not.toContain('Sort')
  })
})

describe('a lease', () => {
  it('that ran out makes the job due again and names who fell silent', async () => {
    await enqueue(sql, { queue: 'mail', payload: {} })
    await takeOne(60_000, 'a')
    expect(await take()).toEqual([])
    await expireLeases()
    expect(await takeOne(60_000, 'b')).toMatchObject({ attempt: 2, previousHolder: 'a' })
  })

  it('keeps a late worker from ending, failing, releasing or renewing the run of another', async () => {
    await enqueue(sql, { queue: 'mail', payload: {} })
    const late = await takeOne()
    await expireLeases()
    const current = await takeOne()
    await expect(complete(sql, late)).rejects.toThrow(LeaseLostError)
    await expect(retry(sql, late, 'late', 0)).rejects.toThrow(LeaseLostError)
    await expect(bury(sql, late, 'late')).rejects.toThrow(LeaseLostError)
    await expect(release(sql, late)).rejects.toThrow(LeaseLostError)
    expect(await renew(sql, late, 60_000)).toBe(false)
    expect(await renew(sql, current, 60_000)).toBe(true)
    await complete(sql, current)
    expect(await sql`SELECT FROM jobs.live UNION ALL SELECT FROM jobs.dead`).toHaveLength(0)
  })

  it('given back makes the job due at once, and the attempt does not count', async () => {
    await enqueue(sql, { queue: 'mail', payload: {} })
    await release(sql, await takeOne())
    expect(await takeOne()).toMatchObject({ attempt: 1, previousHolder: null })
  })
})

describe('the dead letters', () => {
  it('keep a job with its payload and its last errors, and revive puts it back to work', async () => {
    const id = await enqueue(sql, { queue: 'mail', key: 'k', payload: { to: 7 }, maxAttempts: 12 })
    for (let attempt = 1; attempt <= 11; attempt++) await retry(sql, await takeOne(), `error ${attempt}`, 0)
    await bury(sql, await takeOne(), 'error 12')
    const [dead] = await sql`SELECT * FROM jobs.dead`
    expect(dead).toMatchObject({ id, queue: 'mail', key: 'k', payload: { to: 7 }, attempts: 12 })
    expect(dead?.errors.map(({ error }: { error: string }) => error)).toEqual(
      [3, 4, 5, 6, 7, 8, 9, 10, 11, 12].map((attempt) => `error ${attempt}`),
    )

    await revive(sql, id ?? 0n)
    expect(await takeOne()).toMatchObject({ id, key: 'k', payload: { to: 7 }, attempt: 1, maxAttempts: 12 })
    expect(await sql`SELECT FROM jobs.dead`).toHaveLength(0)
  })

  it('are not revived while a live job has their key', async () => {
    const job = { queue: 'mail', key: 'k', payload: {} }
    const id = await enqueue(sql, job)
    await bury(sql, await takeOne(), 'no')
    await enqueue(sql, job)
    await expect(revive(sql, id ?? 0n)).rejects.toThrow(`job ${id} stays dead: a live job has its key k`)
    expect(await sql`SELECT FROM jobs.dead`).toHaveLength(1)
  })

  it('say so when there is no such job', async () => {
    await expect(revive(sql, 404n)).rejects.toThrow('no dead job has the id 404')
  })
})
