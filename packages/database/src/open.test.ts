import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { isRunning, postmasterPid, temporaryDirectory } from '../test/processes.ts'
import { startPostgres } from './embedded.ts'
import { DatabaseError } from './errors.ts'
import { openDatabase } from './open.ts'
import { freshDatabase, type TestDatabase } from './testing.ts'

let database: TestDatabase

beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.drop())

async function refusal(url: string): Promise<string> {
  const error: unknown = await openDatabase({ url }).catch((reason) => reason)
  expect(error).toBeInstanceOf(DatabaseError)
  const { message } = error as DatabaseError
  expect(message).not.toContain('\n')
  return message
}

test('opens the database of a URL, which wins over a directory', async () => {
  const opened = await openDatabase({ url: database.url, directory: '/nowhere', name: 'opened' })
  expect(await opened.sql`show application_name`).toEqual([{ application_name: 'opened' }])
  expect(opened.url).toBe(database.url)
  await opened.close()
})

test('opens a database in a directory and stops its server at the end', async () => {
  const directory = join(await temporaryDirectory(), 'database')
  const progress: string[] = []
  const opened = await openDatabase({ directory, onProgress: (line) => progress.push(line) })
  expect(await opened.sql`select 1 as up`).toEqual([{ up: 1 }])
  const pid = postmasterPid(directory)
  await opened.close()
  expect(isRunning(pid)).toBe(false)
  expect(progress).toEqual([expect.stringContaining('creating a database'), 'starting Postgres'])
})

test('says that nothing answers at the address', async () => {
  expect(await refusal('postgres://me:secret@127.0.0.1:1/market')).toBe(
    'No Postgres answers at 127.0.0.1:1: start it, or correct the host and port in DATABASE_URL.',
  )
  expect(await refusal('postgres://me@%2Fnowhere/market')).toContain('No Postgres answers at /nowhere')
})

test('says that a database is missing', async () => {
  const url = new URL(database.url)
  url.pathname = '/missing'
  expect(await refusal(url.href)).toContain('has no database "missing": create it')
})

test('says that user or password are wrong, without showing the password', async () => {
  const directory = join(await temporaryDirectory(), 'database')
  const rules = join(directory, '..', 'rules')
  await writeFile(rules, 'local all guest scram-sha-256\nlocal all all trust\n')
  const server = await startPostgres({ directory, settings: { hba_file: rules, fsync: 'off' } })
  onTestFinished(() => server.stop())
  const owner = await openDatabase({ url: server.url })
  await owner.sql`create role guest login password 'right'`
  await owner.close()
  const guest = server.url.replace('referrer@', 'guest:wr%40ng@')
  const message = await refusal(guest)
  expect(message).toContain('refuses user "guest": correct user and password')
  expect(message).not.toMatch(/wr@ng|wr%40ng/)
  const welcome = await openDatabase({ url: guest.replace('wr%40ng', 'right') })
  await welcome.close()
})

test('refuses a server that is too old', async () => {
  const { sql } = database
  await sql`create function public.current_setting(name text) returns text language sql
    return case name when 'server_version_num' then '140011' else '14.11' end`
  const url = new URL(database.url)
  url.searchParams.set('search_path', 'public,pg_catalog')
  expect(await refusal(url.href)).toContain('runs PostgreSQL 14.11: upgrade it to 15 or newer')
})

test('asks for a URL or a directory', async () => {
  await expect(openDatabase({})).rejects.toThrow('set DATABASE_URL, or choose a directory')
})
