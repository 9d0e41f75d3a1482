import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, startPostgres } from '@referrer/database'
import { bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { chainsJson } from '../doors/http/testing.ts'
import { migrations } from '../machinery/db/migrations.ts'
import { until } from '../machinery/workers/testing.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

let stopAll: (() => Promise<unknown>)[]

beforeEach(() => {
  stopAll = []
})
afterEach(async () => {
  for (const stop of stopAll.reverse()) await stop()
})

const FIXTURE = new URL('busy.fixture.ts', import.meta.url)

/** The service as a process of its own. */
function run(file: string, env: Record<string, string>, ...args: string[]) {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { out: '', err: '' }
  child.stdout.on('data', (text) => {
    output.out += text
  })
  child.stderr.on('data', (text) => {
    output.err += text
  })
  const exited = once(child, 'close').then(([code]) => ({ code, ...output }))
  stopAll.push(async () => {
    child.kill('SIGKILL')
    await exited
  })
  const isReady = () => {
    if (child.exitCode !== null) throw new Error(`the service ended: ${output.err}`)
    return /ready on (\S+),/.exec(output.out)?.[1]
  }
  return { child, output, exited, ready: () => until(isReady, 'the service to be ready') }
}

function dataDirectory(): string {
  const directory = join(tmpdir(), `referrer-service-${randomUUID()}`)
  stopAll.push(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function prepareDatabase(): Promise<TestDatabase> {
  const database = await freshDatabase(migrations)
  stopAll.push(() => database.drop())
  await database.sql`CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, what text)`
  return database
}

/** A service with a run of a schedule under way that the test lets go on when it likes; the schedule `quick` is not due. */
async function runBusy(env: Record<string, string> = {}) {
  const { sql, url } = await prepareDatabase()
  await sql`INSERT INTO jobs.schedules (name, every_seconds, next_run_at) VALUES ('quick', 3600, 'infinity')`
  const service = run(await bundled(FIXTURE), { DATABASE_URL: url, CHAINS: chainsJson(31337), ...env })
  await service.ready()
  const effects = async () => (await sql`SELECT what FROM effects ORDER BY id`).map(({ what }) => what)
  await until(async () => (await effects()).length > 0, 'the run to start')
  const hears = () => until(() => service.output.out.includes('"stopping"'), 'the signal to be heard')
  return { ...service, sql, effects, hears }
}

describe('a service that gets SIGTERM', () => {
  it('finishes the run under way, starts no other, and exits with 0', async () => {
    const { child, exited, hears, sql, effects } = await runBusy()
    child.kill('SIGTERM')
    await hears()
    await sql`UPDATE jobs.schedules SET next_run_at = now() WHERE name = 'quick'`
    await sql`INSERT INTO effects (what) VALUES ('go on')`
    expect(await exited).toMatchObject({ code: 0, err: '' })
    expect(await effects()).toEqual(['started', 'go on', 'finished'])
    expect(
      await sql`SELECT name, last_error, lease_token FROM jobs.schedules WHERE next_run_at > now()`,
    ).toEqual([{ name: 'slow', last_error: null, lease_token: null }])
  })

  it('gives back at the deadline what has not finished, and exits with 0', async () => {
    const { child, exited, sql, effects } = await runBusy({ SHUTDOWN_TIMEOUT_MS: '50' })
    child.kill('SIGTERM')
    expect(await exited).toMatchObject({ code: 0 })
    expect(await effects()).toEqual(['started'])
    expect(await sql`SELECT name, lease_token FROM jobs.schedules WHERE next_run_at <= now()`).toEqual([
      { name: 'slow', lease_token: null },
    ])
  })

  it('exits at once at the second signal', async () => {
    const { child, exited, hears, sql } = await runBusy()
    child.kill('SIGTERM')
    await hears()
    child.kill('SIGINT')
    expect(await exited).toMatchObject({ code: 130 })
    expect(await sql`SELECT FROM jobs.schedules WHERE lease_token IS NOT NULL`).toHaveLength(1)
  })
})

it('a service lives through a restart of its database, and says what it can do meanwhile', async () => {
  const directory = dataDirectory()
  const start = () => startPostgres({ directory, settings: { fsync: 'off' } })
  let server = await start()
  stopAll.push(() => server.stop())

  const service = run(await bundled(FIXTURE), { DATABASE_URL: server.url, CHAINS: chainsJson(31337) })
  const url = await service.ready()
  const ask = async (path: string) => {
    const response = await fetch(url + path)
    return { status: response.status, body: await response.json() }
  }
  const schedules = async () => {
    const { body } = await ask('/readyz')
    return body.workers.find(({ name }: { name: string }) => name === 'schedules')
  }
  await until(async () => (await ask('/readyz')).status === 200, 'readiness')

  await server.stop()
  await until(async () => (await schedules())?.state === 'failing', 'the workers to notice')
  expect(await ask('/healthz')).toEqual({ status: 200, body: { status: 'ok' } })
  expect(await ask('/readyz')).toMatchObject({
    status: 503,
    body: { status: 'not ready', checks: { database: { ok: false, detail: 'does not answer' } } },
  })

  server = await start()
  await until(async () => (await ask('/readyz')).status === 200, 'readiness after the restart')
  const sql = connect(server.url)
  await sql`CREATE TABLE effects (id bigint GENERATED ALWAYS AS IDENTITY, what text)`
  await sql`INSERT INTO effects (what) VALUES ('go on')`
  await sql`UPDATE jobs.schedules SET next_run_at = now() WHERE name = 'slow'`
  await until(
    async () =>
      (
        await sql`SELECT FROM jobs.schedules WHERE name = 'slow' AND last_finished_at IS NOT NULL AND last_error IS NULL`
      ).count,
    'a schedule to be run after the restart',
  )
  await sql.end()
  expect(await schedules()).toEqual({ name: 'schedules', state: 'running', restarts: 0 })
  expect(service.child.exitCode).toBeNull()
  service.child.kill('SIGTERM')
  expect(await service.exited).toMatchObject({ code: 0, err: '' })
})
