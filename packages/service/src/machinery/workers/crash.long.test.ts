import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../db/migrations.ts'
import { createScheduler } from './schedule.ts'
import { runAlone, until } from './testing.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
  await sql`CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, what text)`
})
afterAll(() => database.drop())

const effects = async () => (await sql`SELECT what FROM effects ORDER BY id`).map(({ what }) => what)
const finish = async (what: string) =>
  void (await sql`INSERT INTO effects (what) VALUES (${`${what} finished`})`)

it('what a killed worker was doing runs again, once, when its lease has run out', async () => {
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('doomed-worker.fixture.ts', import.meta.url))],
    {
      env: { ...process.env, DATABASE_URL: database.url },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  try {
    await until(async () => (await effects()).length === 1, 'the child to have started')
    // Long enough to have been renewed, so that the lease is not just that of the claim.
    await until(
      async () =>
        (await sql`SELECT FROM jobs.schedules WHERE lease_until > last_started_at + interval '5.5 seconds'`)
          .count,
      'a renewal',
    )
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  const runners = ['heir 1', 'heir 2'].map((holder) =>
    runAlone(
      createScheduler({
        sql,
        holder,
        onEvent() {},
        pollMs: 20,
        schedules: [{ name: 'sweep', everySeconds: 3_600, run: () => finish('sweep') }],
      }),
    ),
  )
  const isIdle = async () =>
    (await sql`SELECT FROM jobs.schedules WHERE last_finished_at IS NOT NULL AND lease_token IS NULL`)
      .count === 1
  await until(isIdle, 'the schedule to be done')
  await Promise.all(runners.map((runner) => runner.stop()))
  expect(await effects()).toEqual(['sweep started', 'sweep finished'])
})
