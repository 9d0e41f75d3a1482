import { connect, type Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrations } from '../db/migrations.ts'
import { FatalJobError, RetryJobError } from './errors.ts'
import { enqueue, type NewJob } from './queue.ts'
import { createQueueRunner, type JobEvent, type JobRun, type QueueRunnerOptions } from './queue-runner.ts'
import { runAlone, until } from './testing.ts'

const NEVER = 3_600_000
/** A busy machine may forget a test for two thirds of it. */
const LEASE_MS = 900

let database: TestDatabase
let sql: Sql
let events: JobEvent[]
let running: ReturnType<typeof runAlone>[]

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = connect(database.url, { max: 20 })
  await sql`CREATE TABLE effects (id bigint generated always as identity, what text)`
})
afterAll(async () => {
  await sql.end()
  await database.drop()
})
beforeEach(async () => {
  events = []
  running = []
  await sql`TRUNCATE jobs.live, jobs.dead, effects`
})
afterEach(() => Promise.all(running.map((runner) => runner.abort())))

type Settings = Partial<QueueRunnerOptions> & { concurrency?: number }

/** A runner that hears of work and never looks for it, unless the test says otherwise. */
function serve(handle: (run: JobRun) => Promise<void>, { concurrency = 1, ...settings }: Settings = {}) {
  const runner = runAlone(
    createQueueRunner({
      sql,
      queues: [{ name: 'work', concurrency, handle, backoff: { firstMs: 1, maxMs: 1 } }],
      holder: 'test',
      onEvent: (event) => events.push(event),
      pollMs: NEVER,
      graceMs: 50,
      ...settings,
    }),
  )
  running.push(runner)
  return runner
}

const add = (job: Partial<NewJob> = {}) => enqueue(sql, { queue: 'work', payload: {}, ...job })
const happened = (type: JobEvent['type'], times = 1) =>
  until(() => events.filter((event) => event.type === type).length >= times, `${times} times ${type}`)
const live = () => sql`SELECT * FROM jobs.live`
const dead = () => sql`SELECT * FROM jobs.dead`
/** The server process that a runner listens through. */
const listener = (except = 0) =>
  until(async () => {
    const [row] = await sql<{ pid: number }[]>`
      SELECT pid FROM pg_stat_activity
      WHERE datname = current_database() AND query ILIKE 'listen%' AND state = 'idle' AND pid <> ${except}`
    return row?.pid
  }, 'a listener')

describe('a queue', () => {
  it('runs a job as soon as its transaction commits and then forgets it', async () => {
    const seen: unknown[] = []
    serve(async ({ job }) => void seen.push(job.payload))
    await listener()
    await sql.begin(async (tx) => {
      await enqueue(tx, { queue: 'work', payload: { n: 1 } })
      expect(seen).toEqual([])
    })
    await happened('job.done')
    expect(seen).toEqual([{ n: 1 }])
    expect(await live()).toHaveLength(0)
  })

  it('hears of work again after the connection that it listens through was lost', async () => {
    serve(async () => {})
    const lost = await listener()
    await sql`SELECT pg_terminate_backend(${lost})`
    await listener(lost)
    await add()
    await happened('job.done')
  })

  it('runs as many jobs at once as it may and no more', async () => {
    let now = 0
    let most = 0
    const open = Promise.withResolvers<void>()
    serve(
      async () => {
        most = Math.max(most, ++now)
        await open.promise
        now -= 1
      },
      { concurrency: 3 },
    )
    for (let n = 0; n < 10; n++) await add()
    await until(() => now === 3, 'three at once')
    open.resolve()
    await happened('job.done', 10)
    expect(most).toBe(3)
  })

  it('tries a failed job again, keeps what went wrong, and gives up after its last attempt', async () => {
    serve(async ({ job }) => Promise.reject(new Error(`no ${job.attempt} ${'x'.repeat(5_000)}\0`)), {
      pollMs: 5,
    })
    await add({ maxAttempts: 3, payload: { n: 7 } })
    await happened('job.dead')
    expect(events.map(({ type }) => type)).toEqual(['job.retry', 'job.retry', 'job.dead'])
    const [letter] = await dead()
    expect(letter).toMatchObject({ attempts: 3, payload: { n: 7 } })
    const errors: { attempt: number; error: string }[] = letter?.errors
    expect(errors.map(({ attempt, error }) => [attempt, error.slice(0, 11), error.length])).toEqual([
      [1, 'Error: no 1', 2_000],
      [2, 'Error: no 2', 2_000],
      [3, 'Error: no 3', 2_000],
    ])
    expect(await live()).toHaveLength(0)
  })

  it('buries a job at once when its handler says that it is hopeless', async () => {
    serve(async () => Promise.reject(new FatalJobError('no such agent')))
    await add()
    await happened('job.dead')
    expect((await dead())[0]?.errors[0].error).toBe('FatalJobError: no such agent')
  })

  it('waits as long as the handler says before it tries again', async () => {
    serve(async () => Promise.reject(new RetryJobError('rate limit', 90_000)))
    await add()
    await happened('job.retry')
    const [row] = await sql`SELECT extract(epoch FROM run_at - now())::float8 AS seconds FROM jobs.live`
    expect(row?.seconds).toBeGreaterThan(60)
    expect(row?.seconds).toBeLessThanOrEqual(90)
  })

  it('writes down at the second try what it could not at the first, instead of doing it again', async () => {
    await sql.begin(async (tx) => {
      await tx`CREATE SEQUENCE deletions`
      await tx`CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('deletions') = 1 THEN RAISE EXCEPTION 'not now'; END IF;
        RETURN old;
      END $$`
      await tx`CREATE TRIGGER fail_once BEFORE DELETE ON jobs.live FOR EACH ROW EXECUTE FUNCTION fail_once()`
    })
    let runs = 0
    serve(async () => void runs++)
    await add()
    await happened('job.done')
    expect([runs, (await live()).length]).toEqual([1, 0])
    expect(await sql`SELECT last_value FROM deletions`).toEqual([{ last_value: 2n }])
    await sql`DROP TRIGGER fail_once ON jobs.live`
  })

  it('buries a job whose workers vanished on every attempt, without running it again', async () => {
    await add({ maxAttempts: 2 })
    await sql`UPDATE jobs.live SET attempts = 2, lease_token = gen_random_uuid(), leased_by = 'gone',
      lease_until = now() - interval '1 second'`
    let runs = 0
    serve(async () => void runs++)
    await happened('job.dead')
    expect(runs).toBe(0)
    expect((await dead())[0]?.errors[0].error).toContain('vanished')
  })
})

describe('a handler that completes its job in its own transaction', () => {
  it('makes effect and end one', async () => {
    serve(async ({ sql, complete }) => {
      await sql.begin(async (tx) => {
        await tx`INSERT INTO effects (what) VALUES ('paid')`
        await complete(tx)
      })
    })
    await add()
    await happened('job.done')
    expect([(await live()).length, (await sql`SELECT FROM effects`).length]).toEqual([0, 1])
  })

  it('runs again when the transaction did not commit, even if the handler hides it', async () => {
    serve(
      async ({ sql, job, complete }) => {
        await sql
          .begin(async (tx) => {
            await tx`INSERT INTO effects (what) VALUES ('paid')`
            await complete(tx)
            if (job.attempt === 1) throw new Error('rolled back')
          })
          .catch(() => {})
      },
      { pollMs: 5 },
    )
    await add()
    await happened('job.done')
    expect(events.map(({ type }) => type)).toEqual(['job.retry', 'job.done'])
    expect(await sql`SELECT FROM effects`).toHaveLength(1)
  })

  it('is done when it fails after the commit', async () => {
    serve(async ({ sql, complete }) => {
      await sql.begin((tx) => complete(tx))
      throw new Error('too late to matter')
    })
    await add()
    await happened('job.done')
    expect([(await live()).length, (await dead()).length]).toEqual([0, 0])
  })

  it('keeps its job while the transaction takes longer than the lease', async () => {
    serve(
      async ({ sql, signal, complete }) => {
        await sql.begin(async (tx) => {
          await complete(tx)
          await tx`SELECT pg_sleep(${(1.3 * LEASE_MS) / 1_000})`
        })
        signal.throwIfAborted()
      },
      { leaseMs: LEASE_MS },
    )
    await add()
    await happened('job.done')
    expect(events).toEqual([expect.not.objectContaining({ error: expect.anything() })])
  })
})

describe('a lease', () => {
  it('is renewed for as long as the handler runs', async () => {
    const leases = new Set<string>()
    serve(
      async ({ sql, signal }) => {
        await until(async () => {
          const [row] = await sql`SELECT lease_until::text AS until FROM jobs.live`
          leases.add(row?.until)
          return leases.size === 5 || signal.aborted
        }, 'four renewals')
      },
      { leaseMs: LEASE_MS },
    )
    serve(async () => {}, { pollMs: 10 })
    await add()
    await happened('job.done')
    expect(events.map(({ type, attempt }) => [type, attempt])).toEqual([['job.done', 1]])
  })

  it('that is lost tells the handler, and nothing the late worker does counts', async () => {
    const isLost = Promise.withResolvers<void>()
    const isTaken = Promise.withResolvers<void>()
    serve(
      async ({ job, signal }) => {
        if (job.attempt > 1) return isTaken.promise
        await sql`UPDATE jobs.live SET lease_until = now() - interval '1 second', lease_token = gen_random_uuid()`
        await until(() => signal.aborted, 'the signal')
        isLost.resolve()
        await isTaken.promise
      },
      { leaseMs: LEASE_MS, pollMs: 20, concurrency: 2, graceMs: NEVER },
    )
    await add()
    await isLost.promise
    await until(async () => (await live())[0]?.attempts === 2, 'the second run')
    isTaken.resolve()
    await happened('job.done')
    await happened('job.lost')
    expect(events.map(({ type, attempt }) => [type, attempt]).sort()).toEqual([
      ['job.done', 2],
      ['job.lost', 1],
    ])
  })
})

describe('a runner that stops', () => {
  it('takes nothing new and finishes what runs', async () => {
    const started = Promise.withResolvers<void>()
    const open = Promise.withResolvers<void>()
    const runner = serve(async () => {
      started.resolve()
      await open.promise
    })
    await add({ payload: { n: 1 } })
    await started.promise
    await add({ payload: { n: 2 } })
    let isStopped = false
    const stopped = runner.stop().then(() => {
      isStopped = true
    })
    await sql`SELECT pg_sleep(0.1)`
    expect(isStopped).toBe(false)
    open.resolve()
    await stopped
    expect(events.map(({ type }) => type)).toEqual(['job.done'])
    expect((await live()).map(({ payload, attempts }) => [payload, attempts])).toEqual([[{ n: 2 }, 0]])
  })

  it.each([
    [
      'obeys its signal',
      (signal: AbortSignal) => until(() => signal.aborted, 'the signal').then(() => signal.throwIfAborted()),
    ],
    ['ignores its signal', () => new Promise<void>(() => {})],
  ])(
    'gives back at the deadline a job whose handler %s, and another replica runs it at once',
    async (_, work) => {
      const started = Promise.withResolvers<void>()
      const runner = serve(async ({ signal }) => {
        started.resolve()
        await work(signal)
      })
      await add({ maxAttempts: 1 })
      await started.promise
      const attempts: number[] = []
      serve(async ({ job }) => void attempts.push(job.attempt))
      await runner.abort()
      await happened('job.done')
      expect(events.map(({ type }) => type).sort()).toEqual(['job.done', 'job.released'])
      expect(attempts).toEqual([1])
    },
  )
})
