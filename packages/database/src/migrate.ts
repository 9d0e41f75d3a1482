import postgres from 'postgres'
import { DatabaseError } from './errors.ts'
import { type Migration, type MigrationSet, readMigrations } from './migration-files.ts'
import type { Sql, Transaction } from './sql.ts'

/** Two-part advisory locks are apart from those of one bigint, which the rooms use. */
const MIGRATIONS_LOCK = [0x52656665, 2] as const

/**
 * Brings a database up to date, set by set and file by file. Each file is one transaction together with its
 * record, under a lock: replicas that start together take turns, and a crash undoes the one file it met.
 */
export async function migrate(sql: Sql, sets: MigrationSet[]): Promise<void> {
  const known = await Promise.all(sets.map(readMigrations))
  await sql.begin(async (tx) => {
    await takeTurn(tx)
    await prepare(tx).catch((error: unknown) => {
      throw mayNotMigrate(error)
    })
    for (const [index, set] of sets.entries()) await findPending(tx, set.name, known[index] ?? [])
  })
  for (const [index, set] of sets.entries()) {
    while (await applyNext(sql, set.name, known[index] ?? [])) {
      // One file after the other, each in a turn of its own.
    }
  }
}

async function prepare(tx: Transaction): Promise<void> {
  await tx`create schema if not exists migrations`
  await tx`create table if not exists migrations.applied (
    set_name text not null,
    number int not null,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (set_name, number)
  )`
}

function applyNext(sql: Sql, set: string, migrations: Migration[]): Promise<boolean> {
  return sql.begin(async (tx) => {
    await takeTurn(tx)
    const [next] = await findPending(tx, set, migrations)
    if (!next) return false
    await tx.unsafe(next.text).catch((error: unknown) => {
      throw failed(next, error)
    })
    await tx`insert into migrations.applied (set_name, number, name, sha256)
      values (${set}, ${next.number}, ${next.name}, ${next.sha256})`
    return true
  })
}

async function takeTurn(tx: Transaction): Promise<void> {
  const [a, b] = MIGRATIONS_LOCK
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`select pg_advisory_xact_lock(${a}, ${b})`
}

/** The files that this database has not seen; refuses a history that is not the beginning of ours. */
async function findPending(tx: Transaction, set: string, migrations: Migration[]): Promise<Migration[]> {
  const applied = await tx<{ number: number; name: string; sha256: string }[]>`
    select number, name, sha256 from migrations.applied where set_name = ${set} order by number`
  for (const record of applied) {
    const migration = migrations[record.number - 1]
    if (!migration) {
      throw new DatabaseError(
        `This database was migrated by a newer version of the program (${record.name}): upgrade the program, or restore a backup of the database from before.`,
      )
    }
    if (migration.sha256 !== record.sha256) {
      throw new DatabaseError(
        `Migration ${migration.name} was changed after this database had applied it: put the file back as it was and make the change in a new file.`,
      )
    }
  }
  return migrations.slice(applied.length)
}

function mayNotMigrate(error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error
  return new DatabaseError(
    `The database cannot be migrated (${error.message}): use one that can be written, as a user who may create schemas in it.`,
    { cause: error },
  )
}

function failed(migration: Migration, error: unknown): unknown {
  if (!(error instanceof postgres.PostgresError)) return error
  const { position } = error
  const line =
    position === undefined ? '' : `:${migration.text.slice(0, Number(position)).split('\n').length}`
  return new DatabaseError(
    `Migration ${migration.name}${line} failed (${error.message}): the database is as it was before this file; mend it and start again.`,
    { cause: error },
  )
}
