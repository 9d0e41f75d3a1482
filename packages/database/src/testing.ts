import { createHash, randomBytes } from 'node:crypto'
import { connect as dial } from 'node:net'
import { text } from 'node:stream/consumers'
import { databaseUrl } from './address.ts'
import { connect } from './connect.ts'
import { DatabaseError } from './errors.ts'
import { migrate } from './migrate.ts'
import { type MigrationSet, readMigrations } from './migration-files.ts'
import type { Sql } from './sql.ts'
import { DOOR_VARIABLE } from './test-server.ts'

export { breakingChanges } from './breaking-changes.ts'
export { bundled } from './bundled.ts'
export { type KillablePostgres, processesOf, startKillablePostgres } from './killable-postgres.ts'
export {
  type ReplicatedOptions,
  type ReplicatedPostgres,
  type ReplicatedServer,
  startReplicatedPostgres,
} from './replicated-postgres.ts'

export interface TestDatabase {
  url: string
  sql: Sql
  /** Ends everybody's connections to the database and removes it. */
  drop(): Promise<void>
}

const TEMPLATES_LOCK = [0x52656665, 3] as const

let server: Promise<string> | undefined

/** An empty database of its own on the test run's server or TEST_DATABASE_URL's, migrated when sets are given. */
export async function freshDatabase(sets: MigrationSet[] = []): Promise<TestDatabase> {
  server ??= findServer()
  const serverUrl = await server
  const name = `referrer_test_${randomBytes(8).toString('hex')}`
  await asAdmin(serverUrl, async (admin) => {
    const template = sets.length === 0 ? 'template0' : await migratedTemplate(admin, serverUrl, sets)
    // Copying files takes a third of what writing every page to the log takes.
    await admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`
  })
  const url = databaseUrl(serverUrl, name)
  const sql = connect(url, { max: 5, name: 'referrer tests' })
  return {
    url,
    sql,
    async drop() {
      await sql.end({ timeout: 1 })
      await asAdmin(serverUrl, (admin) => admin`drop database if exists ${admin(name)} with (force)`)
    },
  }
}

/** A migrated database to copy from, made once per content of the files and shared by all workers. */
async function migratedTemplate(admin: Sql, serverUrl: string, sets: MigrationSet[]): Promise<string> {
  const files = (await Promise.all(sets.map(readMigrations))).flat()
  const hash = createHash('sha256').update(files.map(({ name, sha256 }) => `${name} ${sha256}\n`).join(''))
  const template = `referrer_template_${hash.digest('hex').slice(0, 16)}`
  const draft = `${template}_draft`
  const [a, b] = TEMPLATES_LOCK
  await admin`select pg_advisory_lock(${a}, ${b})`
  const [existing] = await admin`select from pg_database where datname = ${template}`
  if (!existing) {
    await admin`drop database if exists ${admin(draft)} with (force)`
    await admin`create database ${admin(draft)} template template0`
    await migrateDatabase(databaseUrl(serverUrl, draft), sets)
    await admin`alter database ${admin(draft)} rename to ${admin(template)}`
  }
  await admin`select pg_advisory_unlock(${a}, ${b})`
  return template
}

async function migrateDatabase(url: string, sets: MigrationSet[]): Promise<void> {
  const sql = connect(url, { max: 1, name: 'referrer tests' })
  await migrate(sql, sets).finally(() => sql.end())
}

/** One connection, and with it its locks, for as long as the work takes. */
async function asAdmin(serverUrl: string, work: (admin: Sql) => Promise<unknown>): Promise<void> {
  const admin = connect(serverUrl, { max: 1, name: 'referrer tests' })
  try {
    await work(admin)
  } finally {
    await admin.end()
  }
}

async function findServer(): Promise<string> {
  const own = process.env.TEST_DATABASE_URL
  if (own) return own
  const door = process.env[DOOR_VARIABLE]
  if (!door) {
    throw new DatabaseError('There is no test server here: run this under vitest, or set TEST_DATABASE_URL.')
  }
  const answer: { url?: string; error?: string } = JSON.parse(await text(dial(door)))
  if (answer.url === undefined) throw new DatabaseError(answer.error)
  return answer.url
}
