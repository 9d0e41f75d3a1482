// The record of the files that a database has seen.
import { DatabaseError } from './errors.ts'
import type { Migration, MigrationKind } from './migration-files.ts'
import type { Queryable, Transaction } from './sql.ts'

interface Applied {
  number: number
  name: string
  sha256: string
  kind: MigrationKind
}

export interface Comparison {
  /** Files that the database has not seen, in order. */
  pending: Migration[]
  /** Names of files that it has seen and that this version of the program does not have. All of them are of the kind `expand`. */
  newer: string[]
}

/** Creates the record where it is missing. */
export async function prepareRecord(tx: Transaction): Promise<void> {
  await tx`create schema if not exists migrations`
  await tx`create table if not exists migrations.applied (
    set_name text not null,
    number int not null,
    name text not null,
    sha256 text not null,
    applied_at timestamptz not null default clock_timestamp(),
    primary key (set_name, number)
  )`
  const [kind] = await tx`
    select from information_schema.columns
    where table_schema = 'migrations' and table_name = 'applied' and column_name = 'kind'`
  // Programs from before there were kinds add rows without one.
  if (!kind) await tx`alter table migrations.applied add column kind text not null default 'contract'`
}

export async function recordApplied(tx: Transaction, migration: Migration): Promise<void> {
  const { set, number, name, sha256, kind } = migration
  await tx`insert into migrations.applied (set_name, number, name, sha256, kind)
    values (${set}, ${number}, ${name}, ${sha256}, ${kind})`
}

/** Compares a database with the files of a set. Refuses a history that is not the beginning of ours, nor ours with expanding files after it. */
export async function compare(sql: Queryable, set: string, migrations: Migration[]): Promise<Comparison> {
  const applied = await readApplied(sql, set)
  const newer = applied.slice(migrations.length)
  const breaking = newer.find(({ kind }) => kind !== 'expand')
  if (breaking) {
    throw new DatabaseError(
      `This database was migrated by a newer version of the program (${breaking.name}): upgrade the program, or restore a backup of the database from before.`,
    )
  }
  for (const [index, record] of applied.slice(0, migrations.length).entries()) {
    const migration = migrations[index]
    if (migration?.sha256 !== record.sha256) {
      throw new DatabaseError(
        `Migration ${migration?.name} was changed after this database had applied it: put the file back as it was and make the change in a new file.`,
      )
    }
  }
  return { pending: migrations.slice(applied.length), newer: newer.map(({ name }) => name) }
}

async function readApplied(sql: Queryable, set: string): Promise<Applied[]> {
  const [record] = await sql<{ exists: boolean }[]>`
    select to_regclass('migrations.applied') is not null as exists`
  if (!record?.exists) return []
  // As JSON, because the column of the kind is missing in a database that only earlier versions have migrated.
  return sql<Applied[]>`
    select number, name, sha256, coalesce(to_jsonb(applied) ->> 'kind', 'contract') as kind
    from migrations.applied where set_name = ${set} order by number`
}
