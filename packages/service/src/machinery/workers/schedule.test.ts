import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { migrations } from '../db/migrations.ts'
import { createScheduler, type Schedule, type ScheduleEvent } from './schedule.ts'
import { runAlone, until } from './testing.ts'

let database: TestDatabase
let sql: Sql
let events: ScheduleEvent[]
let running: ReturnType<typeof runAlone>[]

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())
beforeEach(async () => {
  events = []
  running = []
  await sql`TRUNCATE jobs.schedules`
})
afterEach(() => Promise.all(running.map((runner) => runner.abort())))

function serve(run: Schedule['run'], everySeconds = 3_600) {
  const runner = runAlone(
    createScheduler({
      sql,
      schedules: [{ name: 'sweep', everySeconds, run }],
      holder: 'test',
      onEvent: (event) => events.push(event),
      pollMs: 10,
      graceMs: 50,
    }),
  )
  running.push(runner)
  return runner
}

const row = async () => (await sql`SELECT * FROM jobs.schedules`)[0]
const happened = (type: ScheduleEvent['type'], times = 1) =>
  until(() => events.filter((event) => event.type === type).length >= times, `${times} times ${type}`)

it('two replicas run a schedule once per tick between them', async () => {
  const ticks: number[] = []
  const run = async () => {
    const [now] = await sql`SELECT floor(extract(epoch FROM now()))::float8 AS second`
    ticks.push(now?.second)
  }
  serve(run, 1)
  serve(run, 1)
  await happened('schedule.done', 4)
  expect(new Set(ticks).size).toBe(ticks.length)
})

it('a run that takes longer than its period is not joined by another', async () => {
  let now = 0
  let most = 0
  const open = Promise.withResolvers<void>()
  const run = async () => {
    most = Math.max(most, ++now)
    await open.promise
    now -= 1
  }
  serve(run, 1)
  serve(run, 1)
  await until(() => now === 1, 'the first run')
  const [start] = await sql`SELECT now() AS at`
  await until(
    async () =>
      (await sql`SELECT FROM now() WHERE now() > ${start?.at}::timestamptz + interval '1.1 seconds'`).count,
    'the next tick',
  )
  open.resolve()
  await happened('schedule.done', 2)
  expect(most).toBe(1)
})

it('a schedule that was due many times while nobody ran runs once', async () => {
  await sql`INSERT INTO jobs.schedules (name, every_seconds, next_run_at) VALUES ('sweep', 3600, now() - interval '3 days')`
  let runs = 0
  const runner = serve(async () => void runs++)
  await happened('schedule.done')
  expect((await row())?.next_run_at.getTime()).toBeGreaterThan(Date.now())
  await runner.stop()
  expect(runs).toBe(1)
})

it('the next run is due at the next full period', async () => {
  serve(async () => {})
  await happened('schedule.done')
  const [due] = await sql`
    SELECT extract(epoch FROM next_run_at)::float8 / 3600 AS hour, extract(epoch FROM next_run_at - now())::float8 AS wait
    FROM jobs.schedules`
  expect(Number.isInteger(due?.hour)).toBe(true)
  expect(due?.wait).toBeLessThanOrEqual(3_600)
})

it('a failed run is written down, tried again within a minute, and forgotten when one succeeds', async () => {
  let isBroken = true
  serve(async () => {
    if (isBroken) throw new Error('no votes today')
  })
  await happened('schedule.failed')
  const failed = await row()
  expect(failed).toMatchObject({ last_error: 'Error: no votes today', lease_token: null })
  expect(failed?.next_run_at - failed?.last_finished_at).toBeLessThanOrEqual(60_000)
  isBroken = false
  await sql`UPDATE jobs.schedules SET next_run_at = now()`
  await happened('schedule.done')
  expect((await row())?.last_error).toBeNull()
})

it('a run that is cut short by the end of the drain is due at once for another replica', async () => {
  const started = Promise.withResolvers<void>()
  const runner = serve(async () => {
    started.resolve()
    await new Promise(() => {})
  })
  await started.promise
  await runner.abort()
  serve(async () => {})
  await happened('schedule.done')
  expect(events.map(({ type }) => type)).toEqual(['schedule.released', 'schedule.done'])
})

it('a shorter period takes effect when it is deployed', async () => {
  await sql`INSERT INTO jobs.schedules (name, every_seconds, next_run_at) VALUES ('sweep', 86400, now() + interval '20 hours')`
  serve(async () => {}, 60)
  const changed = await until(async () => {
    // Not now(): that may be before what the statement sees was written.
    const [schedule] = await sql`
      SELECT every_seconds, next_run_at - clock_timestamp() <= interval '60 seconds' AS is_soon FROM jobs.schedules`
    return schedule?.every_seconds === 60 ? schedule : undefined
  }, 'the new period')
  expect(changed.is_soon).toBe(true)
})
