// Builds an index over rows that are already there, which takes minutes for a million of them.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { Pace } from './pace.ts'

export interface Build {
  /** Tells how far a first load is. */
  progress(line: string): void
  /** Other connections, which see how far a build is. */
  watcher?: Sql | undefined
}

interface Index {
  table: string
  name: string
  using: string
  /** The memory that the build needs for a row. */
  rowBytes: number
}

/** The most memory that a build asks for, unless the server's own setting is higher. */
const MOST_BYTES = 2 * 2 ** 30
const NO_SHARED_MEMORY = '53100'
const LOOK_MS = 5_000

export async function hasIndex(sql: Sql, name: string): Promise<boolean> {
  const { count } = await sql`SELECT FROM pg_class WHERE oid = to_regclass(${`search.${name}`})`
  return count > 0
}

/** Does nothing if the index exists. */
export async function buildIndex(sql: Sql, { progress, watcher }: Build, index: Index): Promise<void> {
  if (await hasIndex(sql, index.name)) return
  const begun = performance.now()
  progress(`building the index ${index.name}`)
  const ended = new AbortController()
  const watched = watcher && watch(watcher, progress, index, ended.signal)
  try {
    await create(sql, index, true)
  } catch (error) {
    // A container often has 64 MB of shared memory, which is too little for several workers.
    if ((error as { code?: string }).code !== NO_SHARED_MEMORY) throw error
    progress(`too little shared memory to build ${index.name} with several workers: building it with one`)
    await create(sql, index, false)
  } finally {
    ended.abort()
    await watched
  }
  progress(`built the index ${index.name} in ${((performance.now() - begun) / 1_000).toFixed(1)} s`)
}

const create = (sql: Sql, { table, name, using, rowBytes }: Index, inParallel: boolean) =>
  sql.begin(async (tx) => {
    await tx`SELECT set_config('statement_timeout', '0', true)`
    if (!inParallel) await tx`SELECT set_config('max_parallel_maintenance_workers', '0', true)`
    await tx`
      SELECT set_config('maintenance_work_mem', least(count(*) * ${rowBytes}::bigint, ${MOST_BYTES}::bigint) / 1024 || 'kB', true)
      FROM ${tx(table)}
      HAVING count(*) * ${rowBytes}::bigint > pg_size_bytes(current_setting('maintenance_work_mem'))`
    await tx.unsafe(`CREATE INDEX ${name} ON ${table} USING ${using}`)
    await tx.unsafe(`ANALYZE ${table}`)
  })

type BuildRow = { phase: string; done: number; total: number }

/** Never rejects: what cannot be seen is not told. */
async function watch(
  watcher: Sql,
  progress: Build['progress'],
  { table, name }: Index,
  signal: AbortSignal,
): Promise<void> {
  let phase: string | undefined
  let pace: Pace | undefined
  const look = async () => {
    // Some builds count rows, others the pages of the table.
    const [row] = await watcher<BuildRow[]>`
      SELECT phase, (CASE WHEN tuples_total > 0 THEN tuples_done ELSE blocks_done END)::float8 AS done,
        (CASE WHEN tuples_total > 0 THEN tuples_total ELSE blocks_total END)::float8 AS total
      FROM pg_stat_progress_create_index WHERE relid = to_regclass(${table})`
    if (!row || row.total === 0) return
    if (row.phase !== phase) pace = new Pace(row.total, (line) => progress(`${name}, ${row.phase}: ${line}`))
    phase = row.phase
    pace?.reached(row.done)
  }
  while (!signal.aborted) {
    await look().catch(() => {})
    await sleep(LOOK_MS, undefined, { signal }).catch(() => {})
  }
}
