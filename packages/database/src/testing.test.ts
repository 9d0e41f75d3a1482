import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { startChild, temporaryDirectory } from '../test/processes.ts'
import type { MigrationSet } from './migration-files.ts'
import { DOOR_VARIABLE } from './test-server.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

async function fresh(sets?: MigrationSet[]): Promise<TestDatabase> {
  const database = await freshDatabase(sets)
  onTestFinished(() => database.drop())
  return database
}

test('gives every caller an empty database of its own', async () => {
  const [one, other] = await Promise.all([fresh(), fresh()])
  await one.sql`create table mine (id int8)`
  const tables = await other.sql`select tablename from pg_tables where schemaname = 'public'`
  expect(tables).toEqual([])
})

test('gives a database that is migrated with the files as they are now', async () => {
  const directory = await temporaryDirectory()
  const set = { name: 'room', directory: pathToFileURL(`${directory}/`) }
  await writeFile(join(directory, '0001_table.sql'), 'create table first ();')
  const databases = await Promise.all([fresh([set]), fresh([set]), fresh([set])])
  for (const { sql } of databases) expect(await sql`select from first`).toEqual([])
  await writeFile(join(directory, '0001_table.sql'), 'create table second ();')
  const { sql } = await fresh([set])
  expect(await sql`select from second`).toEqual([])
})

test('drops a database that is in use', async () => {
  const { url, sql, drop } = await freshDatabase()
  const { sql: admin } = await fresh()
  const busy = sql`select pg_sleep(60)`.catch((error: Error) => error.message)
  await drop()
  expect(await busy).toContain('connection')
  const name = new URL(url).pathname.slice(1)
  expect(await admin`select from pg_database where datname = ${name}`).toEqual([])
})

test('uses the server of TEST_DATABASE_URL', async () => {
  const { url } = await fresh()
  const child = startChild('fresh.ts', [], { env: { TEST_DATABASE_URL: url, [DOOR_VARIABLE]: '' } })
  const made = new URL(await child.line())
  expect(made.host).toBe(new URL(url).host)
  expect(made.pathname).toMatch(/^\/referrer_test_/)
})

test('says what is missing outside of a test run', async () => {
  const child = startChild('fresh.ts', [], { env: { TEST_DATABASE_URL: '', [DOOR_VARIABLE]: '' } })
  await expect(child.line()).rejects.toThrow('run this under vitest, or set TEST_DATABASE_URL')
})
