import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startChild, temporaryDirectory, until } from '../test/processes.ts'
import { connect } from './connect.ts'
import { DatabaseError } from './errors.ts'
import { awaitMigrations, migrate, planMigrations } from './migrate.ts'
import type { MigrationSet } from './migration-files.ts'
import type { Sql } from './sql.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

const TABLE = 'create table one (id int8 primary key);'
const COLUMN = 'alter table one add name text;'

async function database(): Promise<TestDatabase> {
  const fresh = await freshDatabase()
  onTestFinished(() => fresh.drop())
  return fresh
}

async function setOf(files: Record<string, string>, name = 'room'): Promise<MigrationSet> {
  const directory = join(await temporaryDirectory(), 'migrations')
  await mkdir(directory)
  for (const [file, text] of Object.entries(files)) await writeFile(join(directory, file), text)
  return { name, directory: pathToFileURL(directory) }
}

async function applied(sql: Sql): Promise<string[]> {
  const rows = await sql<{ name: string }[]>`select name from migrations.applied order by applied_at, number`
  return rows.map(({ name }) => name)
}

async function refusal(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((reason) => reason)
  expect(error).toBeInstanceOf(DatabaseError)
  const { message } = error as DatabaseError
  expect(message).not.toContain('\n')
  return message
}

test('applies sets in the order given, each file once', async () => {
  const { sql } = await database()
  const below = await setOf({ '0001_table.sql': TABLE, '0002_column.sql': COLUMN }, 'below')
  const above = await setOf({ '0001_row.sql': "insert into one values (1, 'first');" }, 'above')
  await migrate(sql, [below, above])
  await migrate(sql, [below, above])
  expect(await sql`select * from one`).toEqual([{ id: 1n, name: 'first' }])
  expect(await applied(sql)).toEqual(['below/0001_table.sql', 'below/0002_column.sql', 'above/0001_row.sql'])
})

test('adds new files to a filled database', async () => {
  const { sql } = await database()
  await migrate(sql, [await setOf({ '0001_table.sql': TABLE })])
  await sql`insert into one select generate_series(1, 1000)`
  const fill = `${COLUMN} update one set name = 'number ' || id;`
  await migrate(sql, [await setOf({ '0001_table.sql': TABLE, '0002_fill.sql': fill })])
  expect(await sql`select count(distinct name) as names from one`).toEqual([{ names: 1000n }])
})

test('refuses a database of a newer version, and says to upgrade', async () => {
  const { sql } = await database()
  await migrate(sql, [await setOf({ '0001_table.sql': TABLE, '0002_column.sql': COLUMN })])
  const older = await setOf({ '0001_table.sql': TABLE })
  const other = await setOf({ '0001_other.sql': 'create table other ();' }, 'other')
  const message = await refusal(migrate(sql, [other, older]))
  expect(message).toContain('newer version of the program (room/0002_column.sql): upgrade the program')
  expect(await sql`select to_regclass('other') as other`).toEqual([{ other: null }])
})

test('takes a database of a newer version whose further files all expand it, and says which they are', async () => {
  const { sql } = await database()
  const expand = '-- expand: a name\n'
  const files = { '0001_table.sql': TABLE, '0002_column.sql': expand + COLUMN }
  const newer = await setOf(files)
  expect(await migrate(sql, [newer])).toEqual({
    applied: ['room/0001_table.sql', 'room/0002_column.sql'],
    newer: [],
  })
  const older = await setOf({ '0001_table.sql': TABLE })
  expect(await migrate(sql, [older])).toEqual({ applied: [], newer: ['room/0002_column.sql'] })
  expect(await planMigrations(sql, [older])).toEqual({ pending: [], newer: ['room/0002_column.sql'] })
  const contract = '-- contract: no name\nalter table one drop name;'
  await migrate(sql, [await setOf({ ...files, '0003_drop.sql': contract })])
  for (const set of [older, newer]) {
    expect(await refusal(migrate(sql, [set]))).toContain('newer version of the program (room/0003_drop.sql)')
  }
})

test('goes on where a version without kinds of files stopped, which then counts as contract', async () => {
  const { sql } = await database()
  const first = await setOf({ '0001_table.sql': TABLE })
  await migrate(sql, [first])
  await sql`alter table migrations.applied drop column kind`
  const both = await setOf({ '0001_table.sql': TABLE, '0002_column.sql': `-- expand: a name\n${COLUMN}` })
  expect((await planMigrations(sql, [both])).pending).toMatchObject([
    { name: 'room/0002_column.sql', kind: 'expand', about: 'a name' },
  ])
  await migrate(sql, [both])
  expect(await sql`select name, kind from migrations.applied order by number`).toEqual([
    { name: 'room/0001_table.sql', kind: 'contract' },
    { name: 'room/0002_column.sql', kind: 'expand' },
  ])
})

test('says what it would do to an empty database without touching it', async () => {
  const { sql } = await database()
  const { pending } = await planMigrations(sql, [await setOf({ '0001_table.sql': TABLE })])
  expect(pending).toMatchObject([{ name: 'room/0001_table.sql', kind: 'contract' }])
  expect(await sql`select to_regnamespace('migrations') as migrations`).toEqual([{ migrations: null }])
})

test('waits until another process has migrated, or until it is told to stop', async () => {
  const { sql } = await database()
  const set = await setOf({ '0001_table.sql': TABLE })
  const waits: (readonly string[])[] = []
  const stop = new AbortController()
  const wait = (signal?: AbortSignal) =>
    awaitMigrations(sql, [set], { signal, pollMs: 5, onWait: (pending) => waits.push(pending) })
  const stopped = wait(stop.signal)
  const done = wait()
  await until(async () => waits.length === 2)
  expect(waits).toEqual([['room/0001_table.sql'], ['room/0001_table.sql']])
  stop.abort()
  await expect(stopped).rejects.toThrow('aborted')
  await migrate(sql, [set])
  expect(await done).toEqual({ applied: [], newer: [] })
})

test('refuses a file that was changed after it was applied', async () => {
  const { sql } = await database()
  await migrate(sql, [await setOf({ '0001_table.sql': TABLE })])
  const changed = await setOf({ '0001_table.sql': `${TABLE} -- better`, '0002_column.sql': COLUMN })
  expect(await refusal(migrate(sql, [changed]))).toContain('room/0001_table.sql was changed after')
  expect(await applied(sql)).toEqual(['room/0001_table.sql'])
})

test.each([
  [{ '0001_a.sql': '', '0003_c.sql': '' }, 'room/0003_c.sql should be 0002_name.sql'],
  [{ '0001_a.sql': '', '0001_b.sql': '' }, 'room/0001_b.sql should be 0002_name.sql'],
  [{ '0002_b.sql': '' }, 'room/0002_b.sql should be 0001_name.sql'],
  [{ '1_a.sql': '' }, 'room/1_a.sql should be 0001_name.sql'],
  [{ '0001_a.sql': 'create table a ();\ncommit;' }, 'room/0001_a.sql begins or ends a transaction'],
])('refuses files that cannot be applied in order, one transaction each: %j', async (files, message) => {
  const nowhere = connect('postgres://nobody@localhost:1/none')
  expect(await refusal(migrate(nowhere, [await setOf(files)]))).toContain(message)
})

test('says what is missing when its user may not create anything', async () => {
  const { sql, url } = await database()
  const role = `guest_${randomBytes(4).toString('hex')}`
  await sql`create role ${sql(role)} login password 'guest'`
  const guest = new URL(url)
  guest.username = role
  guest.password = 'guest'
  const pool = connect(guest.href)
  onTestFinished(async () => {
    await pool.end()
    await sql`drop role ${sql(role)}`
  })
  const message = await refusal(migrate(pool, [await setOf({ '0001_table.sql': TABLE })]))
  expect(message).toMatch(
    /cannot be migrated \(permission denied .*\): use one that can be written, as a user who may/,
  )
})

test('stays at the last good file when one fails, and names the line', async () => {
  const { sql } = await database()
  const files = { '0001_table.sql': TABLE, '0002_wrong.sql': `${COLUMN}\n\nselect\n  nonsense;` }
  const message = await refusal(migrate(sql, [await setOf(files)]))
  expect(message).toContain('room/0002_wrong.sql:4 failed (column "nonsense" does not exist)')
  expect(await applied(sql)).toEqual(['room/0001_table.sql'])
  await sql`insert into one values (1)`
  await migrate(sql, [await setOf({ '0001_table.sql': TABLE, '0002_wrong.sql': COLUMN })])
  expect(await sql`select * from one`).toEqual([{ id: 1n, name: null }])
})

test('lets many start at once, of which each file meets one', async () => {
  const { sql, url } = await database()
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, index) => {
      const number = String(index + 1).padStart(4, '0')
      return [`${number}_table.sql`, `create table table_${number} (); select pg_sleep(0.005);`]
    }),
  )
  const set = await setOf(files)
  const pools = Array.from({ length: 4 }, () => connect(url, { max: 2 }))
  onTestFinished(async () => {
    await Promise.all(pools.map((pool) => pool.end({ timeout: 0 })))
  })
  await Promise.all(pools.map((pool) => migrate(pool, [set])))
  expect(await applied(sql)).toEqual(Object.keys(files).map((file) => `room/${file}`))
})

test('goes on where a killed process stopped', async () => {
  const { sql, url } = await database()
  const gate = await sql.reserve()
  await gate`select pg_advisory_lock(42)`
  const directory = await temporaryDirectory()
  await writeFile(join(directory, '0001_table.sql'), TABLE)
  await writeFile(
    join(directory, '0002_slow.sql'),
    `${COLUMN} select pg_advisory_xact_lock(42); create table two ();`,
  )
  const child = startChild('migrate.ts', [url, directory])
  const waiting = () => sql`select from pg_locks where locktype = 'advisory' and objid = 42 and not granted`
  await until(async () => (await waiting()).length === 1)
  await child.kill()
  await gate`select pg_advisory_unlock(42)`
  gate.release()
  const set = { name: 'room', directory: pathToFileURL(directory) }
  await migrate(sql, [set])
  expect(await applied(sql)).toEqual(['room/0001_table.sql', 'room/0002_slow.sql'])
  expect(await sql`select to_regclass('two')::text as two`).toEqual([{ two: 'two' }])
})

test('is not held to the time limit of ordinary statements', async () => {
  const { sql } = await database()
  const show = "create table limits as select current_setting('statement_timeout') as statement_timeout;"
  await migrate(sql, [await setOf({ '0001_limits.sql': show })])
  expect(await sql`select * from limits`).toEqual([{ statement_timeout: '0' }])
  expect(await sql`show statement_timeout`).toEqual([{ statement_timeout: '1min' }])
})

test('tries a file again that met a deadlock with a program that writes', async () => {
  const { sql } = await database()
  const tables = 'create table escrows (id int8); create table agents (id int8);'
  await migrate(sql, [await setOf({ '0001_tables.sql': tables })])
  // The program writes an agent, then an escrow; the file locks the tables the other way round, once the gate is open.
  const gate = 4711
  const file = `create index on escrows (id); select pg_advisory_xact_lock(${gate}); alter table agents add flagged_at timestamptz;`
  const set = await setOf({ '0001_tables.sql': tables, '0002_lock.sql': file })
  let migrated: Promise<unknown> | undefined
  await sql.begin(async (program) => {
    // Whoever closes the circle notices it: the program looks for one only after an hour.
    await program`set local deadlock_timeout = '1h'`
    await program`insert into agents values (1)`
    let written: Promise<unknown> | undefined
    await sql.begin(async (keeper) => {
      await keeper`select pg_advisory_xact_lock(${gate})`
      migrated = migrate(sql, [set])
      migrated.catch(() => {})
      await until(
        async () => (await sql`select from pg_locks where objid = ${gate} and not granted`).count > 0,
      )
      written = Promise.resolve(program`insert into escrows values (1)`)
      await until(
        async () =>
          (await sql`select from pg_locks where relation = 'escrows'::regclass and not granted`).count > 0,
      )
    })
    await written
  })
  await migrated
  expect(await applied(sql)).toEqual(['room/0001_tables.sql', 'room/0002_lock.sql'])
  expect(await sql`select id, flagged_at from agents`).toEqual([{ id: 1n, flagged_at: null }])
})
