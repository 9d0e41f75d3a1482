import type { Queryable, Sql } from '@referrer/database'
import { SearchSetupError } from './schema.ts'

/** The table of one model's vectors for a chain. */
export interface VectorTable {
  id: number
  embedderId: string
  dims: number
}

/** The limit of pgvector's index on halfvec. */
const MOST_DIMS = 4_000
/** Work on a whole catalogue takes longer than the usual statement time-out. */
const WITHOUT_TIMEOUT = `SELECT set_config('statement_timeout', '0', true)`

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
    // The columns of the filters are beside the vector, so that a filtered search reads no other table.
    await tx.unsafe(`
      CREATE TABLE IF NOT EXISTS search.vectors_${table.id} (
        merchant_id bigint NOT NULL,
        product_id  bytea  NOT NULL,
        category    text   NOT NULL,
        cost        float8 NOT NULL,
        vector      halfvec(${dims}) NOT NULL,
        vector_hash bytea  NOT NULL,
        PRIMARY KEY (merchant_id, product_id)
      );
      CREATE INDEX IF NOT EXISTS vectors_${table.id}_by_category ON search.vectors_${table.id} (category)`)
    return table
  })
}

/** Called when all vectors are written. Building the index now is faster than updating it with each insert. */
export async function finishVectors(sql: Sql, { id }: VectorTable): Promise<void> {
  await sql.begin(async (tx) => {
    await tx.unsafe(WITHOUT_TIMEOUT)
    await tx.unsafe(`
      CREATE INDEX IF NOT EXISTS vectors_${id}_nearest ON search.vectors_${id} USING hnsw (vector halfvec_cosine_ops)`)
    await tx`UPDATE search.models SET is_ready = true WHERE id = ${id}`
  })
}

/** Drops the vectors of models that do not serve any more. */
export async function dropOtherVectors(sql: Sql, kept: readonly VectorTable[]): Promise<void> {
  await sql.begin(async (tx) => {
    const others = await tx<{ id: number }[]>`
      DELETE FROM search.models WHERE id <> ALL(${kept.map(({ id }) => id)}::integer[]) RETURNING id`
    for (const { id } of others) await tx.unsafe(`DROP TABLE IF EXISTS search.vectors_${id}`)
  })
}
