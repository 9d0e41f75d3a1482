import { setImmediate as immediate } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { until } from '../test/processes.ts'
import { connect } from './connect.ts'
import type { Sql } from './sql.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase
let sql: Sql

beforeAll(async () => {
  database = await freshDatabase()
  sql = database.sql
  await sql`create table amounts (id int8 primary key generated always as identity, small int8, large numeric(78), hashes bytea[])`
})
afterAll(() => database.drop())

function open(options: { max?: number; name?: string } = {}): Sql {
  const pool = connect(database.url, options)
  onTestFinished(() => pool.end({ timeout: 0 }))
  return pool
}

test('brings whole numbers of any size there and back as bigints', async () => {
  const seed = Math.trunc(Math.random() * 2 ** 31)
  console.log(`seed ${seed}`)
  const int8 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const uint256 = fc.bigInt({ min: -(2n ** 256n), max: 2n ** 256n })
  await fc.assert(
    fc.asyncProperty(int8, uint256, async (small, large) => {
      const row = { small, large }
      expect(await sql`insert into amounts ${sql(row)} returning small, large`).toEqual([row])
      expect(await sql`select ${small}::int8 as small, ${large}::numeric as large`).toEqual([row])
      expect(await sql`select small, large from amounts where large = ${large} limit 1`).toHaveLength(1)
    }),
    {
      seed,
      numRuns: 50,
      examples: [
        [2n ** 63n - 1n, 2n ** 63n],
        [-(2n ** 63n), -(2n ** 63n) - 1n],
      ],
    },
  )
})

test('sends lists of bigints and of bytes', async () => {
  const large = [1n, 2n ** 255n]
  const bytes = [new Uint8Array([1, 2]), Buffer.from('ffee', 'hex')]
  const [row] =
    await sql`select ${large}::numeric[] as large, ${bytes}::bytea[] as bytes, ${[]}::int8[] as none`
  expect(row).toEqual({ large, bytes: bytes.map((value) => Buffer.from(value)), none: [] })
  expect(await sql`select 1 as found where 5::int8 = any(${[4n, 5n]})`).toEqual([{ found: 1 }])
  expect(await sql`select 1 as found where 5 in ${sql([4n, 5n])}`).toEqual([{ found: 1 }])
  const rows = [1n, 2n ** 100n].map((value) => ({ large: value, hashes: bytes }))
  expect(await sql`insert into amounts ${sql(rows, 'large', 'hashes')} returning large`).toHaveLength(2)
})

test('nests fragments', async () => {
  const only = sql`where value > ${2n}`
  const conditions = [sql`and value < ${2n ** 70n}`, sql`and value <> ${4n}`]
  const rows =
    await sql`select value from unnest(${[1n, 3n, 4n, 2n ** 80n]}::numeric[]) value ${only} ${conditions}`
  expect(rows).toEqual([{ value: 3n }])
})

test('refuses a number that is not whole, and goes on', async () => {
  await expect(sql`select 1.5 as half`).rejects.toThrow(
    'numeric 1.5 is not whole: round it or cast it to text',
  )
  expect(await sql`select 2.0::numeric(10, 0) as two`).toEqual([{ two: 2n }])
})

test('refuses undefined where the query is written', () => {
  const missing = undefined as unknown as string
  expect(() => sql`select ${missing}`).toThrow('undefined: pass null')
  expect(() => sql({ small: missing })).toThrow('undefined: pass null')
  expect(() => sql([{ small: 1n }, {} as { small: bigint }], 'small')).toThrow('undefined: pass null')
})

test('says in the stack of an error which query failed', async () => {
  async function somewhereInTheProgram() {
    await sql`select nothing`
  }
  const error: Error = await somewhereInTheProgram().catch((reason) => reason)
  expect(error.stack).toContain('somewhereInTheProgram')
})

test('opens no more connections than it may, and tells its name', async () => {
  const pool = open({ max: 3, name: 'three at most' })
  await Promise.all(Array.from({ length: 20 }, () => pool`select pg_sleep(0.001)`))
  const others = await sql`select from pg_stat_activity where application_name = 'three at most'`
  expect(others).toHaveLength(3)
})

test('ends runaway statements and forgotten transactions', async () => {
  expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: '1min' }])
  expect(await sql`show idle_in_transaction_session_timeout`).toEqual([
    { idle_in_transaction_session_timeout: '1min' },
  ])
})

test('takes socket directories in the spellings of libpq, and its words for the client', async () => {
  const url = new URL(database.url)
  const directory = decodeURIComponent(url.hostname)
  if (!directory.startsWith('/')) return
  const path = `${url.pathname}?host=${encodeURIComponent(directory)}&channel_binding=prefer`
  for (const spelling of [
    `postgres://${url.username}@${path}`,
    `postgresql://${url.username}@ignored${path}`,
  ]) {
    const pool = connect(spelling)
    expect(await pool`select current_database() as name`).toEqual([{ name: url.pathname.slice(1) }])
    await pool.end()
  }
})

test('says how to write a URL that it cannot read, without repeating it', () => {
  expect(() => connect('postgres://me:my secret#@host:port/db')).toThrow('write it as postgres://')
  expect(() => connect('postgres://me:my secret#@host:port/db')).not.toThrow('secret')
  expect(() => connect('postgres://me:100%@host/db')).toThrow('percent-encoded')
})

test('ends when what is running has ended, or at once', async () => {
  const patient = connect(database.url)
  const work = patient`select pg_sleep(0.05)`.then(() => 'done')
  await patient.end()
  expect(await work).toBe('done')
  await expect(patient`select 1`).rejects.toThrow('has closed its connections')

  const asked = connect(database.url)
  const still = asked`select pg_sleep(0.05)`.then(() => 'done')
  await Promise.all([asked.end(), asked.end()])
  expect(await still).toBe('done')

  const hasty = connect(database.url)
  const cut = hasty`select pg_sleep(60)`.catch((error: Error) => error.message)
  await hasty`select 1`
  await hasty.end({ timeout: 0 })
  expect(await cut).toContain('closed by this program')
})

test('goes on after a query was cancelled while it connected, ran or waited', async () => {
  const lone = open({ max: 1, name: 'to be cancelled' })
  const connecting = lone`select pg_sleep(60)`.execute()
  await immediate()
  connecting.cancel()
  await expect(connecting).rejects.toMatchObject({ code: '57014' })
  const running = lone`select pg_sleep(60)`.execute()
  const waiting = lone`select 1`.execute()
  const outcomes = Promise.allSettled([running, waiting])
  const isSleeping = () => sql`select from pg_stat_activity
    where application_name = 'to be cancelled' and wait_event = 'PgSleep'`
  await until(async () => (await isSleeping()).length === 1)
  waiting.cancel()
  running.cancel()
  expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await lone`select 1 as up`).toEqual([{ up: 1 }])
})

test('sends and hears notifications', async () => {
  const heard = Promise.withResolvers<string>()
  const pool = open()
  await pool.listen('news', heard.resolve)
  await sql.notify('news', 'hello')
  expect(await heard.promise).toBe('hello')
})
