import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { migrations } from '../db/migrations.ts'
import { enqueue } from './queue.ts'
import { createQueueRunner } from './queue-runner.ts'
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

const effects = async () => (await sql`SELECT what FROM effects ORDER BY id`).map(({ what }) => what).sort()
const finish = async (what: string) =>
  void (await sql`INSERT INTO effects (what) VALUES (${`${what} finished`})`)

it('what a killed worker was doing runs again, once, when its lease has run out', async () => {
  await enqueue(sql, { queue: 'work', payload: {} })
  const child = spawn(
    process.execPath,
    [fileURLToPath(new URL('doomed-worker.fixture.ts', import.meta.url))],
    {
      env: { ...process.env, DATABASE_URL: database.url },
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  try {
    await until(async () => (await effects()).length === 2, 'the child to have started both')
    // Long enough to have been renewed, so that the lease is not just that of the claim.
    await until(
      async () =>
        (await sql`SELECT FROM jobs.live WHERE lease_until > created_at + interval '1.5 seconds'`).count,
      'a renewal',
    )
  } finally {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  const attempts: number[] = []
  const common = { sql, holder: 'heir', onEvent() {}, pollMs: 20 }
  const replicas = [1, 2].flatMap(() => [
    createQueueRunner({
      ...common,
      queues: [
        {
          name: 'work',
          async handle({ job }) {
            attempts.push(job.attempt)
            await finish('job')
          },
        },
      ],
    }),
    createScheduler({
      ...common,
      schedules: [{ name: 'sweep', everySeconds: 3_600, run: () => finish('sweep') }],
    }),
  ])
  const runners = replicas.map(runAlone)
  const isIdle = async () =>
    (await sql`SELECT FROM jobs.live`).count === 0 &&
    (await sql`SELECT FROM jobs.schedules WHERE last_finished_at IS NOT NULL AND lease_token IS NULL`)
      .count === 1
  await until(isIdle, 'everything to be done')
  await Promise.all(runners.map((runner) => runner.stop()))
  expect(await effects()).toEqual(['job finished', 'job started', 'sweep finished', 'sweep started'])
  expect(attempts).toEqual([2])
})
