// Builds an index over rows that are already there, which takes minutes for a million of them.
import type { Sql } from '@referrer/database'

export interface Build {
  /** Tells how far a first load is. */
  progress(line: string): void
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

/** Does nothing if the index exists. */
export async function buildIndex(sql: Sql, { progress }: Build, index: Index): Promise<void> {
  const [known] = await sql`SELECT FROM pg_class WHERE oid = to_regclass(${`search.${index.name}`})`
  if (known) return
  const begun = performance.now()
  progress(`building the index ${index.name}: pg_stat_progress_create_index shows how far it is`)
  try {
    await create(sql, index, true)
  } catch (error) {
    // A container often has 64 MB of shared memory, which is too little for several workers.
    if ((error as { code?: string }).code !== NO_SHARED_MEMORY) throw error
    progress(`too little shared memory to build ${index.name} with several workers: building it with one`)
    await create(sql, index, false)
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
