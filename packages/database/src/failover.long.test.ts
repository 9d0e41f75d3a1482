import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { until } from '../test/processes.ts'
import { connect } from './connect.ts'
import { openDatabase } from './open.ts'
import { ConnectionLost } from './session.ts'
import type { Sql } from './sql.ts'
import { type ReplicatedPostgres, startReplicatedPostgres } from './testing.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

// Each test begins with the cluster that the one before it has left.

let cluster: ReplicatedPostgres
let sql: Sql

beforeAll(async () => {
  cluster = await startReplicatedPostgres()
  sql = connect(cluster.url, { max: 5, name: 'to fail over' })
  await sql`create table notes (text text primary key)`
})
afterAll(async () => {
  await sql?.end({ timeout: 0 })
  await cluster?.remove()
})

function open(url: string): Sql {
  const pool = connect(url, { max: 2 })
  onTestFinished(() => pool.end({ timeout: 0 }))
  return pool
}

const note = (on: Sql, text: string) => on`insert into notes values (${text})`
const serverOf = async (on: Sql) => (await on`show cluster_name`)[0]?.cluster_name
const isServed = async () => (await sql`select 1`.catch(() => [])).length === 1

/** Writes until it is stopped; knows which writes were acknowledged, and which may have been lost. */
function startWriting() {
  const acknowledged: string[] = []
  const failed: string[] = []
  let isStopped = false
  const writers = Array.from({ length: 5 }, async (_, writer) => {
    for (let at = 0; !isStopped; at += 1) {
      const text = `${writer}.${acknowledged.length + failed.length}.${at}`
      const work = writer % 2 ? note(sql, text) : sql.begin((tx) => tx`insert into notes values (${text})`)
      await work.then(
        () => void acknowledged.push(text),
        async () => {
          failed.push(text)
          await sleep(5)
        },
      )
    }
  })
  return {
    acknowledged,
    failed,
    async stop() {
      isStopped = true
      await Promise.all(writers)
    },
  }
}

async function expectAllNoted({ acknowledged, failed }: { acknowledged: string[]; failed: string[] }) {
  const rows = await sql<{ text: string }[]>`select text from notes where text ~ '^\\d+\\.'`
  const noted = new Set(rows.map(({ text }) => text))
  expect(acknowledged.filter((text) => !noted.has(text))).toEqual([])
  const known = new Set([...acknowledged, ...failed])
  expect([...noted].filter((text) => !known.has(text))).toEqual([])
  await sql`truncate notes`
}

test('a primary that is killed under writes loses none that was acknowledged, and everything goes on with the standby', async () => {
  const heard: string[] = []
  let listening = 0
  await sql.listen(
    'news',
    (text) => heard.push(text),
    () => listening++,
  )
  const leader = await sql.reserve()
  await leader`select pg_advisory_lock(7)`
  const writing = startWriting()
  await until(() => writing.acknowledged.length > 200)
  await cluster.primary().kill()
  await until(() => writing.failed.length > 5)
  const before = writing.acknowledged.length
  await cluster.promote()
  await until(() => writing.acknowledged.length > before + 200)
  await writing.stop()
  await expectAllNoted(writing)

  await expect(leader`select 1`).rejects.toBeInstanceOf(ConnectionLost)
  leader.release()
  expect(await sql`select pg_try_advisory_lock(7) as free`).toEqual([{ free: true }])
  await until(() => listening === 2)
  await sql.notify('news', 'from the standby')
  await until(() => heard.length > 0)
  expect(heard).toEqual(['from the standby'])
})

test('a former primary that comes back by itself is not written, and cannot acknowledge a commit', async () => {
  const former = cluster.standby()
  await former.start()
  const before = await serverOf(sql)
  // The former primary stands first in the URL, and takes writes.
  const fresh = open(cluster.url)
  await note(fresh, 'for the new primary')
  expect(await serverOf(fresh)).toBe(before)

  const misled = open(former.url)
  const outcome = note(misled, 'for the former').then(
    () => 'acknowledged',
    (error) => error,
  )
  const waiting = () =>
    misled<{ pid: number }[]>`select pid from pg_stat_activity where wait_event = 'SyncRep'`
  await until(async () => (await waiting()).length === 1)
  // Even when somebody ends the wait, and the server calls it a commit.
  const [row] = await waiting()
  await misled`select pg_cancel_backend(${row?.pid ?? 0})`
  expect(await outcome).toBeInstanceOf(ConnectionLost)
  expect((await outcome).message).toContain('not confirmed by the synchronous standby')

  // Nor while the new primary is away, for whoever has seen it.
  cluster.primary().freeze()
  const late = note(open(cluster.url), 'to nobody')
  await expect(late).rejects.toThrow('is a former primary, behind a fail-over that was seen')
  cluster.primary().thaw()
  await until(isServed)
  expect(await sql`select text from notes`).toEqual([{ text: 'for the new primary' }])
  await sql`truncate notes`
})

test('a primary that falls silent is left for the one that was promoted, and not gone back to', async () => {
  await cluster.reseed()
  const silent = cluster.primary()
  await until(isServed)
  const former = await serverOf(sql)
  const writing = startWriting()
  await until(() => writing.acknowledged.length > 100)
  silent.freeze()
  await cluster.promote()
  const before = writing.acknowledged.length
  await until(() => writing.acknowledged.length > before + 100)
  silent.thaw()
  const later = writing.acknowledged.length
  await until(() => writing.acknowledged.length > later + 100)
  await writing.stop()
  await expectAllNoted(writing)
  const servers = await Promise.all(Array.from({ length: 10 }, () => serverOf(sql)))
  expect(new Set(servers)).toEqual(new Set([await serverOf(open(cluster.primary().url))]))
  expect(servers).not.toContain(former)
})

test('a server that takes no more writes is left; without another one the error says what each of them is', async () => {
  await cluster.reseed()
  const admin = open(cluster.primary().url)
  await admin`alter system set default_transaction_read_only = on`
  await admin`select pg_reload_conf()`
  await until(() =>
    note(sql, 'refused').then(
      () => false,
      (error) =>
        /can be written \(.* is (read-only|a standby); .* is (read-only|a standby)\)/.test(error.message),
    ),
  )
  await expect(openDatabase({ url: cluster.url })).rejects.toThrow(
    'start or promote one, or correct DATABASE_URL',
  )
  await admin`alter system reset default_transaction_read_only`
  await admin`select pg_reload_conf()`
  await until(() =>
    note(sql, 'taken').then(
      () => true,
      () => false,
    ),
  )
})
