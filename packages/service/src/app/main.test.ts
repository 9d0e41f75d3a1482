import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { connect, startPostgres } from '@referrer/database'
import { bundled, freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { chainsJson } from '../doors/http/testing.ts'
import { migrations } from '../machinery/db/migrations.ts'
import { until } from '../machinery/workers/testing.ts'

let stopAll: (() => Promise<unknown>)[]

beforeEach(() => {
  stopAll = []
})
afterEach(async () => {
  for (const stop of stopAll.reverse()) await stop()
})

const AS_WRITTEN = new URL('main.ts', import.meta.url)
const MAIN = await bundled(AS_WRITTEN)
const FIXTURE = new URL('main.fixture.ts', import.meta.url)

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

describe('main.ts', () => {
  it('starts on an embedded database of its own and ends with it', async () => {
    const service = run(MAIN, {
      DATA_DIR: dataDirectory(),
      DATABASE_URL: '',
      CHAINS: chainsJson(1, 2),
    })
    const url = await service.ready()
    expect(service.output.out).toContain(`referrer service ready on ${url}, chains 1, 2\n`)
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    service.child.kill('SIGINT')
    expect(await service.exited).toMatchObject({ code: 0, err: '' })
  })

  it('lists every variable with its default when asked for help', async () => {
    const { code, out } = await run(MAIN, {}, '--help').exited
    expect(code).toBe(0)
    expect(out).toMatch(/^ {2}DATABASE_URL +PostgreSQL 15 or newer/m)
    expect(out).toMatch(/^ {2}PORT +.+ \(default 8080\)$/m)
    expect(out).toMatch(/^ {2}SHUTDOWN_TIMEOUT_MS +.+ \(default 25000\)$/m)
  })

  it('forgets a chain when asked to read it anew, and no other', async () => {
    const { url, sql } = await prepareDatabase()
    await sql`
      INSERT INTO indexer.checkpoints
        (chain_id, block_number, block_hash, block_time, final_number, head_number, head_time)
      SELECT chain_id, 5, '\\x01', now(), 5, 5, now() FROM unnest(ARRAY[31337, 31338]) AS chain_id`
    const env = { DATABASE_URL: url, CHAINS: chainsJson(31_337, 31_338) }
    expect(await run(MAIN, env, '--reindex', '31337').exited).toEqual({
      code: 0,
      out: 'chain 31337 will be read anew from block 0\n',
      err: '',
    })
    expect(await sql`SELECT chain_id FROM indexer.checkpoints`).toEqual([{ chain_id: 31_338n }])
    expect(await run(MAIN, env, '--reindex', '1').exited).toMatchObject({
      code: 1,
      err: expect.stringContaining('one of the configured chains (31337, 31338)'),
    })
  })

  it('says what to set when nothing is configured', async () => {
    expect(await run(fileURLToPath(AS_WRITTEN), { CHAINS: '', CHAINS_FILE: '' }).exited).toEqual({
      code: 1,
      out: '',
      err: 'The configuration cannot be used:\n  CHAINS: no chain is configured; set CHAINS to a JSON array of chains, or CHAINS_FILE to a file with one\n',
    })
  })

  it('says in one line that its port is in use', async () => {
    const { url } = await prepareDatabase()
    const squatter = createServer().listen(0, '127.0.0.1')
    await once(squatter, 'listening')
    stopAll.push(async () => squatter.close())
    const address = squatter.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const env = { PORT: port, DATABASE_URL: url, CHAINS: chainsJson(31337) }
    expect(await run(MAIN, env).exited).toMatchObject({
      code: 1,
      err: `port ${port} is in use: stop what listens there, or set PORT to another\n`,
    })
  })
})
