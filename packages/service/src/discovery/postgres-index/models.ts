import type { Queryable, Sql } from '@referrer/database'
import { type Build, buildIndex, hasIndex } from './build.ts'
import { SearchSetupError } from './schema.ts'

/** The table of one model's vectors for a chain. */
export interface VectorTable {
  id: number
  embedderId: string
  dims: number
}

/** The limit of pgvector's index on halfvec. */
const MOST_DIMS = 4_000

export const tableOf = (sql: Queryable, { id }: VectorTable) => sql(`search.vectors_${id}`)

export async function ensureVectors(
  sql: Sql,
  chainId: number,
  { embedderId, dims }: Omit<VectorTable, 'id'>,
): Promise<VectorTable> {
  if (dims > MOST_DIMS) {
    throw new SearchSetupError(
      `DISCOVERY_INDEX=postgres takes vectors of at most ${MOST_DIMS} dimensions, and those of ${embedderId} have ${dims}: set EMBEDDINGS_DIMENSIONS to less, or DISCOVERY_INDEX=memory`,
    )
  }
  return sql.begin(async (tx) => {
    await tx`
      INSERT INTO search.models (chain_id, embedder_id, dims) VALUES (${chainId}, ${embedderId}, ${dims})
      ON CONFLICT DO NOTHING`
    const [model] = await tx<[{ id: number }]>`
      SELECT id FROM search.models WHERE chain_id = ${chainId} AND embedder_id = ${embedderId}`
    const table = { id: model.id, embedderId, dims }
    // What filters compare is beside the vector, so that a filtered search reads no other table.
    await tx.unsafe(`
      CREATE TABLE IF NOT EXISTS search.vectors_${table.id} (
        slot        integer PRIMARY KEY,
        category    integer NOT NULL,
        cost        float8  NOT NULL,
        vector      halfvec(${dims}) NOT NULL,
        vector_hash bytea   NOT NULL
      ) WITH (fillfactor = 90)`)
    return table
  })
}

/** Called when all vectors are written. Building the indexes now is faster than updating them with each insert. */
export async function finishVectors(sql: Sql, { id, dims }: VectorTable, build: Build): Promise<void> {
  const table = `search.vectors_${id}`
  const [byCategory, nearest] = [`vectors_${id}_by_category`, `vectors_${id}_nearest`]
  await buildIndex(sql, build, { table, name: byCategory, using: 'btree (category)', rowBytes: 100 })
  // Comparing a whole category takes a quarter of the time if its vectors lie together; later ones lie behind them.
  // Without the other index the table is not searched yet, so nobody waits for the lock.
  if (!(await hasIndex(sql, nearest))) {
    build.progress('putting the vectors of each category together')
    await sql.begin(async (tx) => {
      await tx`SELECT set_config('statement_timeout', '0', true)`
      await tx.unsafe(`CLUSTER ${table} USING ${byCategory}`)
    })
  }
  await buildIndex(sql, build, {
    table,
    name: nearest,
    using: 'hnsw (vector halfvec_cosine_ops)',
    rowBytes: 2 * dims + 700,
  })
  // Only one model is kept up to date.
  await sql`
    UPDATE search.models SET is_ready = (id = ${id})
    WHERE chain_id = (SELECT chain_id FROM search.models WHERE id = ${id})`
}

/** Drops the vectors of models that do not serve any more. */
export async function dropOtherVectors(sql: Sql, kept: readonly VectorTable[]): Promise<void> {
  await sql.begin(async (tx) => {
    const others = await tx<{ id: number }[]>`
      DELETE FROM search.models WHERE id <> ALL(${kept.map(({ id }) => id)}::integer[]) RETURNING id`
    for (const { id } of others) await tx.unsafe(`DROP TABLE IF EXISTS search.vectors_${id}`)
  })
}
