import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { hasNewPostmaster, postmasterPid, temporaryDirectory, until } from '../test/processes.ts'
import { connect } from './connect.ts'
import { startPostgres } from './embedded.ts'
import { ConnectionLost } from './session.ts'
import type { Queryable, Sql } from './sql.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

// An error that escapes to the process fails the whole run: that, too, is tested here.

let database: TestDatabase
let sql: Sql
let killer: Sql

beforeAll(async () => {
  database = await freshDatabase()
  sql = database.sql
  killer = connect(database.url, { max: 1 })
  await sql`create table notes (text text)`
})
afterAll(async () => {
  await killer.end()
  await database.drop()
})

/** Ends the server's side of a connection and waits until the server has forgotten it. */
async function cut(on: Queryable): Promise<void> {
  const [row] = await on<{ pid: number }[]>`select pg_backend_pid() as pid`
  await killer`select pg_terminate_backend(${row?.pid ?? 0}, 5000)`
  // The news travels through this process's event loop.
  await sleep(20)
}

test('a transaction whose connection is lost between two queries fails, and nothing of it stays', async () => {
  const work = sql.begin(async (tx) => {
    await tx`insert into notes values ('lost')`
    await cut(tx)
    await tx`insert into notes values ('outside')`
  })
  await expect(work).rejects.toBeInstanceOf(ConnectionLost)
  expect(await sql`select from notes`).toEqual([])
})

test('a transaction whose connection is lost during its last query does not pretend to commit', async () => {
  const work = sql.begin(async (tx) => {
    await tx`insert into notes values ('lost')`
    await cut(tx)
  })
  await expect(work).rejects.toBeInstanceOf(ConnectionLost)
  expect(await sql`select from notes`).toEqual([])
})

test('a reserved session whose connection is lost stays lost, as its locks are', async () => {
  const session = await sql.reserve()
  await session`select pg_advisory_lock(7)`
  await cut(session)
  await expect(session`select 1`).rejects.toBeInstanceOf(ConnectionLost)
  await expect(session.begin((tx) => tx`select 1`)).rejects.toBeInstanceOf(ConnectionLost)
  session.release()
  expect(await sql`select pg_try_advisory_lock(7) as free`).toEqual([{ free: true }])
})

test('an idle connection that is lost is replaced without an error', async () => {
  const lone = connect(database.url, { max: 1 })
  onTestFinished(() => lone.end({ timeout: 0 }))
  await cut(lone)
  expect(await lone`select 1 as up`).toEqual([{ up: 1 }])
})

test('every query is answered and the pool is whole again when the server crashes under load', async () => {
  const directory = join(await temporaryDirectory(), 'database')
  const server = await startPostgres({ directory, settings: { fsync: 'off' } })
  onTestFinished(() => server.stop())
  const pool = connect(server.url, { max: 5, name: 'under load' })
  onTestFinished(() => pool.end({ timeout: 0 }))
  let stopped = false
  let done = 0
  const loops = Array.from({ length: 15 }, async (_, index) => {
    while (!stopped) {
      const work = index % 2 ? pool`select 1` : pool.begin((tx) => tx`select 1`.then(() => tx`select 2`))
      await work.then(
        () => done++,
        () => sleep(0),
      )
    }
  })
  for (const signal of ['SIGKILL', 'SIGQUIT'] as const) {
    const before = done
    await until(() => done > before + 100)
    const pid = postmasterPid(directory)
    process.kill(pid, signal)
    await until(() => hasNewPostmaster(directory, pid))
  }
  const before = done
  await until(() => done > before + 500)
  stopped = true
  await Promise.all(loops)
  await Promise.all(Array.from({ length: 20 }, () => pool`select pg_sleep(0.005)`))
  const [row] =
    await pool`select count(*) as open from pg_stat_activity where application_name = 'under load'`
  expect(row).toEqual({ open: 5n })
})

test('listeners hear again after the connection was lost', async () => {
  const pool = connect(database.url, { name: 'listener' })
  onTestFinished(() => pool.end({ timeout: 0 }))
  const heard: string[] = []
  let listening = 0
  await pool.listen(
    'news',
    (text) => heard.push(text),
    () => listening++,
  )
  await killer`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'listener'`
  await until(() => listening === 2)
  await sql.notify('news', 'again')
  await until(() => heard.length > 0)
  expect(heard).toEqual(['again'])
})

test('a connection that is cut while it opens fails what waited for it, and nothing else', async () => {
  let isOver = false
  const cutting = (async () => {
    while (!isOver)
      await killer`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'victim'`
  })()
  for (let round = 0; round < 30; round += 1) {
    const victim = connect(database.url, { name: 'victim', max: 1 })
    await victim`select 1`.catch((error) => expect(error).toBeInstanceOf(Error))
    await victim.end({ timeout: 0 })
  }
  isOver = true
  await cutting
})
