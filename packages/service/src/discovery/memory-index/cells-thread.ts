// A worker thread that chooses the cells of chains, then ends.
import { workerData } from 'node:worker_threads'
import { connect, type Queryable } from '@referrer/database'
import { chooseCells, type Vector, writeCells } from '@referrer/search'
import type { CellsData } from './cells.ts'

const AT_ONCE = 5_000

const { databaseUrl, embedderId, chainIds } = workerData as CellsData
const pool = connect(databaseUrl, { max: 1, name: 'referrer search cells' })
try {
  const session = await pool.reserve()
  for (const chainId of chainIds) await choose(session, chainId)
  session.release()
} finally {
  await pool.end({ timeout: 0 })
}

async function choose(sql: Queryable, chainId: number): Promise<void> {
  const lock = sql`hashtextextended(${`cells/${chainId}/${embedderId}`}, 0)`
  const [mine] = await sql<[{ held: boolean }]>`SELECT pg_try_advisory_lock(${lock}) AS held`
  if (!mine.held) return
  try {
    if (!(await isDue(sql, chainId))) return
    const cells = chooseCells(await vectorsOf(sql, chainId))
    await sql`
      INSERT INTO market.vector_cells (chain_id, embedder_id, vectors, points)
      VALUES (${chainId}, ${embedderId}, ${cells.vectors}, ${writeCells(cells)})
      ON CONFLICT (chain_id, embedder_id) DO UPDATE SET vectors = excluded.vectors, points = excluded.points, chosen_at = clock_timestamp()`
  } finally {
    await sql`SELECT pg_advisory_unlock(${lock})`
  }
}

async function isDue(sql: Queryable, chainId: number): Promise<boolean> {
  const [row] = await sql<[{ due: boolean }]>`
    SELECT coalesce((
      SELECT 2 * c.vectors <= (
        SELECT count(*) FROM market.product_vectors AS v WHERE (v.embedder_id, v.chain_id) = (${embedderId}, ${chainId}))
      FROM market.vector_cells AS c WHERE (c.embedder_id, c.chain_id) = (${embedderId}, ${chainId})), true) AS due`
  return row.due
}

/** Ordered by the products' keys. */
async function vectorsOf(sql: Queryable, chainId: number): Promise<Vector[]> {
  const vectors: Vector[] = []
  let after: { merchant_id: bigint; product_id: Buffer } = { merchant_id: -1n, product_id: Buffer.alloc(0) }
  for (;;) {
    const rows = await sql<{ merchant_id: bigint; product_id: Buffer; vector: Buffer }[]>`
      SELECT merchant_id, product_id, vector FROM market.product_vectors
      WHERE embedder_id = ${embedderId} AND chain_id = ${chainId}
        AND (merchant_id, product_id) > (${after.merchant_id}, ${after.product_id}::bytea)
      ORDER BY merchant_id, product_id LIMIT ${AT_ONCE}`
    for (const { vector } of rows) vectors.push(new Int8Array(vector))
    const last = rows.at(-1)
    if (!last) return vectors
    after = last
  }
}
