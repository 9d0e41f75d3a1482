import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { appendFile, chmod, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import {
  hasNewPostmaster,
  isRoot,
  isRunning,
  postmasterPid,
  startChild,
  temporaryDirectory,
  until,
} from '../test/processes.ts'
import { connect } from './connect.ts'
import { type PostgresServer, startPostgres } from './embedded.ts'
import { tryHold } from './hold.ts'
import { ConnectionLost } from './session.ts'
import type { Sql } from './sql.ts'

/** Made by the first test, used by most. */
let directory: string

beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), 'referrer-db-'))
  await chmod(parent, 0o755)
  directory = join(parent, 'market', 'database')
})

afterAll(() => rm(join(directory, '..', '..'), { recursive: true, force: true }))

async function start(
  directory: string,
  onProgress: (line: string) => void = () => {},
): Promise<PostgresServer> {
  const server = await startPostgres({ directory, onProgress })
  onTestFinished(() => server.stop().catch(() => {}))
  return server
}

function open(url: string): Sql {
  const sql = connect(url)
  onTestFinished(() => sql.end({ timeout: 0 }))
  return sql
}

async function settings(sql: Sql): Promise<Record<string, string>> {
  const rows = await sql<{ name: string; setting: string }[]>`select name, setting from pg_settings`
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))
}

test('starts in an empty directory and keeps its rows from one start to the next', async () => {
  await mkdir(join(directory, 'lost+found'), { recursive: true })
  const first = await start(directory)
  const sql = open(first.url)
  await sql`create table kept_1 as select 7 as number`
  await sql.end()
  const pid = postmasterPid(directory)
  await first.stop()
  expect(isRunning(pid)).toBe(false)
  const second = await start(directory)
  expect(second.url).toBe(first.url)
  expect(await open(second.url)`select number from kept_1`).toEqual([{ number: 7 }])
})

test('starts after a start that was killed while it made the database', async () => {
  const parent = await temporaryDirectory()
  const directory = join(parent, 'database')
  const drafts = () => readdir(directory).then((names) => names.filter((name) => name.endsWith('.new')))
  const killed = startChild('start.ts', [directory, '{"fsync":"off"}'])
  await until(async () => (await drafts().catch(() => [])).length === 1)
  await killed.kill()
  const server = await startPostgres({ directory, settings: { fsync: 'off' } })
  onTestFinished(() => server.stop())
  expect(await open(server.url)`select 1 as up`).toEqual([{ up: 1 }])
  expect(await drafts()).toEqual([])
})

test('is durable, in UTC and UTF-8, and reachable by its own user alone', async () => {
  const sql = open((await start(directory)).url)
  expect(await settings(sql)).toMatchObject({
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',
    listen_addresses: '',
    TimeZone: 'UTC',
    server_encoding: 'UTF8',
    max_connections: '100',
  })
  const [database] =
    await sql`select datlocprovider, datlocale from pg_database where datname = current_database()`
  expect(database).toEqual({ datlocprovider: 'b', datlocale: 'C.UTF-8' })
  for (const path of [directory, join(directory, 'data'), join(directory, 'socket')]) {
    expect(statSync(path).mode & 0o077).toBe(0)
  }
})

test('never runs as root', async () => {
  await start(directory)
  const status = readFileSync(`/proc/${postmasterPid(directory)}/status`, 'utf8')
  const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
  expect(uid).toBe(isRoot ? statSync(join(directory, 'data')).uid : process.getuid?.())
  expect(uid).not.toBe(0)
})

test('is shared by processes that start at once, and stopped by the last that leaves', async () => {
  const directory = join(await temporaryDirectory(), 'database')
  const children = [1, 2, 3].map(() => startChild('start.ts', [directory, '{"fsync":"off"}']))
  const urls = await Promise.all(children.map((child) => child.line()))
  expect(urls).toEqual(Array(3).fill(expect.stringMatching(/^postgres:\/\//)))
  const pid = postmasterPid(directory)
  const sql = open(urls[0] ?? '')
  for (const child of children.slice(0, 2)) await child.finish()
  expect(await sql`select 1 as up`).toEqual([{ up: 1 }])
  expect(postmasterPid(directory)).toBe(pid)
  await children[2]?.finish()
  expect(isRunning(pid)).toBe(false)
  expect(children.map((child) => child.complaints())).toEqual(['', '', ''])
})

test('can be left while it is frozen', async () => {
  const { url } = await start(directory)
  const hold = await tryHold(url, 50)
  if (typeof hold === 'string') throw new Error(`the server is ${hold}`)
  const pid = postmasterPid(directory)
  const backends = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number)
  const tell = (signal: NodeJS.Signals) => {
    for (const backend of backends) process.kill(backend, signal)
  }
  tell('SIGSTOP')
  try {
    await expect(hold.leave()).rejects.toBeInstanceOf(ConnectionLost)
    await hold.close()
  } finally {
    tell('SIGCONT')
  }
})

test('is taken over when the process that started it was killed', async () => {
  const owner = startChild('start.ts', [directory])
  const sql = open(await owner.line())
  await sql`create table kept_2 as select 7 as number`
  const pid = postmasterPid(directory)
  await owner.kill()
  expect(isRunning(pid)).toBe(true)
  const server = await start(directory)
  expect(postmasterPid(directory)).toBe(pid)
  expect(await sql`select number from kept_2`).toEqual([{ number: 7 }])
  await sql.end()
  await server.stop()
  expect(isRunning(pid)).toBe(false)
})

test('has every acknowledged row after owner and server were killed', async () => {
  const owner = startChild('start.ts', [directory])
  const sql = open(await owner.line())
  await sql`create table kept_3 (number int8 primary key)`
  const acknowledged: bigint[] = []
  const writing = (async () => {
    for (let number = 0n; ; number++) {
      await sql`insert into kept_3 values (${number})`
      acknowledged.push(number)
    }
  })().catch(() => {})
  await until(() => acknowledged.length > 200)
  await owner.kill()
  process.kill(postmasterPid(directory), 'SIGKILL')
  await writing
  const again = open((await start(directory)).url)
  const rows = await again<{ number: bigint }[]>`select number from kept_3 order by number`
  expect(rows.slice(0, acknowledged.length).map(({ number }) => number)).toEqual(acknowledged)
})

test('is started again when it dies under its owner', async () => {
  const progress: string[] = []
  const sql = open((await start(directory, (line) => progress.push(line))).url)
  await sql`create table kept_4 as select 7 as number`
  const pid = postmasterPid(directory)
  process.kill(pid, 'SIGKILL')
  const answer = () => sql`select number from kept_4`.then((rows) => rows[0]?.number === 7).catch(() => false)
  await until(() => progress.includes('Postgres has gone: starting it again'))
  await until(() => hasNewPostmaster(directory, pid))
  await until(answer)
  expect(postmasterPid(directory)).not.toBe(pid)
})

test('starts when the lock of a dead server names a process that is somebody else by now', async () => {
  await (await start(directory)).stop()
  const { uid, gid } = statSync(join(directory, 'data'))
  const stranger = spawn('sleep', ['60'], { stdio: 'ignore', ...(isRoot ? { uid, gid } : {}) })
  onTestFinished(() => {
    stranger.kill()
  })
  const lock = `${stranger.pid}\n${join(directory, 'data')}\n1\n5432\n\n\n`
  await writeFile(join(directory, 'data', 'postmaster.pid'), lock)
  await writeFile(join(directory, 'socket', '.s.PGSQL.5432.lock'), lock)
  const { url } = await start(directory)
  expect(await open(url)`select 1 as up`).toEqual([{ up: 1 }])
})

test('starts when a crash has left an empty lock', async () => {
  await writeFile(join(directory, 'data', 'postmaster.pid'), '')
  const { url } = await start(directory)
  expect(await open(url)`select 1 as up`).toEqual([{ up: 1 }])
})

test('listens elsewhere when the directory is too deep for a socket', async () => {
  const directory = join(await temporaryDirectory(), 'd'.repeat(60), 'e'.repeat(60))
  const { url, stop } = await startPostgres({ directory, settings: { fsync: 'off' } })
  onTestFinished(stop)
  const elsewhere = decodeURIComponent(new URL(url).hostname)
  onTestFinished(() => rm(elsewhere, { recursive: true }))
  expect(elsewhere).not.toContain(directory)
  expect(await open(url)`select 1 as up`).toEqual([{ up: 1 }])
})

test('keeps the log of failed statements out of its own log', async () => {
  const sql = open((await start(directory)).url)
  await expect(sql`select 'my secret' from nowhere`).rejects.toThrow('nowhere')
  await sql.end()
  expect(await readFile(join(directory, 'postgres.log'), 'utf8')).not.toContain('nowhere')
})

test('puts a log that has grown long aside, however many start at once', async () => {
  const log = join(directory, 'postgres.log')
  await appendFile(log, 'old line\n'.repeat(1_200_000))
  const children = [1, 2, 3].map(() => startChild('start.ts', [directory, '{"fsync":"off"}']))
  const urls = await Promise.all(children.map((child) => child.line()))
  expect(urls).toEqual(Array(3).fill(expect.stringMatching(/^postgres:\/\//)))
  for (const child of children) await child.finish()
  expect(await readFile(log, 'utf8')).not.toContain('old line')
})
