import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { type Comparison, compare, prepareRecord, recordApplied } from './applied.ts'
import { DatabaseError } from './errors.ts'
import { type Migration, type MigrationSet, readMigrations } from './migration-files.ts'
import type { Queryable, Sql, Transaction } from './sql.ts'

const DEADLOCK = '40P01'
/** How often a file is tried in all: a replica that writes meanwhile may meet it each time. */
const ATTEMPTS = 10

/** Two-part advisory locks are apart from those of one bigint, which the rooms use. */
const MIGRATIONS_LOCK = [0x52656665, 2] as const

export interface Migrated {
  /** Names of the files that were applied now, in order. */
  applied: string[]
  /** Names of files of a newer version that the database has seen; this version works with them. */
  newer: string[]
}

/**
 * Brings a database up to date, set by set and file by file. Each file is one transaction together with its
 * record, under a lock: replicas that start together take turns, and a crash undoes the one file it met. A file
 * that Postgres ended because of a deadlock is tried again: replicas of the version before lock the same tables
 * in the order in which they write them.
 */
export async function migrate(sql: Sql, sets: MigrationSet[]): Promise<Migrated> {
  const known = await Promise.all(sets.map(readMigrations))
  const newer = await sql.begin(async (tx) => {
    await takeTurn(tx)
    await prepareRecord(tx).catch((error: unknown) => {
      throw mayNotMigrate(error)
    })
    const names: string[] = []
    for (const [index, set] of sets.entries())
      names.push(...(await compare(tx, set.name, known[index] ?? [])).newer)
    return names
  })
  const applied: string[] = []
  for (const [index, set] of sets.entries()) {
    for (;;) {
      // One file after the other, each in a turn of its own.
      const name = await despiteDeadlocks(() => applyNext(sql, set.name, known[index] ?? []))
      if (name === undefined) break
      applied.push(name)
    }
  }
  return { applied, newer }
}

/** What `migrate` would do. Only reads. */
export async function planMigrations(sql: Queryable, sets: MigrationSet[]): Promise<Comparison> {
  const plan: Comparison = { pending: [], newer: [] }
  for (const set of sets) {
    const { pending, newer } = await compare(sql, set.name, await readMigrations(set))
    plan.pending.push(...pending)
    plan.newer.push(...newer)
  }
  return plan
}

export interface AwaitOptions {
  /** Ends the waiting: the promise rejects. */
  signal?: AbortSignal | undefined
  /** Called when the number of missing files changes. */
  onWait(pending: readonly string[]): void
  pollMs?: number
}

/** Waits until somebody else has migrated the database. */
export async function awaitMigrations(
  sql: Sql,
  sets: MigrationSet[],
  { signal, onWait, pollMs = 500 }: AwaitOptions,
): Promise<Migrated> {
  let told = 0
  for (;;) {
    const { pending, newer } = await planMigrations(sql, sets)
    if (pending.length === 0) return { applied: [], newer }
    if (pending.length !== told) onWait(pending.map(({ name }) => name))
    told = pending.length
    await sleep(pollMs, undefined, { signal })
  }
}

async function despiteDeadlocks<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await work()
    } catch (error) {
      if (attempt === ATTEMPTS || !isDeadlock(error)) throw error
    }
  }
}

const isDeadlock = (error: unknown): boolean =>
  error instanceof Error && error.cause instanceof postgres.PostgresError && error.cause.code === DEADLOCK

function applyNext(sql: Sql, set: string, migrations: Migration[]): Promise<string | undefined> {
  return sql.begin(async (tx) => {
    await takeTurn(tx)
    const [next] = (await compare(tx, set, migrations)).pending
    if (!next) return undefined
    await tx.unsafe(next.text).catch((error: unknown) => {
      throw failed(next, error)
    })
    await recordApplied(tx, next)
    return next.name
  })
}

/** Until the transaction ends, which takes as long as it must. */
export async function takeTurn(tx: Transaction): Promise<void> {
  const [a, b] = MIGRATIONS_LOCK
  await tx`set local statement_timeout = 0`
  await tx`set local idle_in_transaction_session_timeout = 0`
  await tx`select pg_advisory_xact_lock(${a}, ${b})`
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
