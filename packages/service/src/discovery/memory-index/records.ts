// What the search indexes read from the database. The column `changed_in` of a listing is the last transaction that
// changed anything read here of its product.
import { setImmediate as turn } from 'node:timers/promises'
import { copyQueryOut, type Queryable, type Transaction } from '@referrer/database'
import type { Product } from '@referrer/search'
import { keyOf, readKey } from '@referrer/search'
import { WORDS_OF_OTHERS } from '../../derived/listings/store.ts'
import { readRows } from '../../machinery/db/binary-rows.ts'
import { servingEmbedder } from '../embeddings/store.ts'

/** The model whose vectors are loaded, and how they are grouped. */
export interface Model {
  /** Undefined: no vectors, search by words alone. */
  embedderId: string | undefined
  /** The length of its vectors; 0: there are none yet. */
  dims: number
  /** By chain: when its cells were chosen, and for how many vectors. */
  cells: ReadonlyMap<number, { chosenAt: string; vectors: number }>
}

export async function servingModel(sql: Queryable, configuredId: string | undefined): Promise<Model> {
  const embedderId = await servingEmbedder(sql, configuredId)
  if (embedderId === undefined) return { embedderId, dims: 0, cells: new Map() }
  const rows = await sql<ModelRow[]>`
    SELECT e.dims, c.chain_id::float8 AS chain_id, c.chosen_at::text AS chosen_at, c.vectors
    FROM market.embedders AS e LEFT JOIN market.vector_cells AS c USING (embedder_id) WHERE e.embedder_id = ${embedderId}`
  return {
    embedderId,
    dims: rows[0]?.dims ?? 0,
    cells: new Map(
      rows.flatMap(({ chain_id, chosen_at, vectors }) =>
        chain_id === null ? [] : [[chain_id, { chosenAt: chosen_at, vectors }]],
      ),
    ),
  }
}

type ModelRow = { dims: number } & (
  | { chain_id: number; chosen_at: string; vectors: number }
  | { chain_id: null; chosen_at: null; vectors: null }
)

export const isSameModel = (a: Model, b: Model): boolean =>
  a.embedderId === b.embedderId &&
  a.dims === b.dims &&
  a.cells.size === b.cells.size &&
  [...a.cells].every(([chainId, { chosenAt }]) => b.cells.get(chainId)?.chosenAt === chosenAt)

export async function readPoints(
  sql: Queryable,
  chainId: number,
  embedderId: string,
): Promise<Buffer | undefined> {
  const [row] = await sql<{ points: Buffer }[]>`
    SELECT points FROM market.vector_cells WHERE chain_id = ${chainId} AND embedder_id = ${embedderId}`
  return row?.points
}

/** The number of vectors of the model, by chain. */
export async function countVectors(
  sql: Queryable,
  chainIds: readonly number[],
  embedderId: string | undefined,
): Promise<Map<number, number>> {
  if (embedderId === undefined) return new Map()
  const rows = await sql<{ chain_id: number; count: number }[]>`
    SELECT chain_id::float8 AS chain_id, count(*)::float8 AS count FROM market.product_vectors
    WHERE embedder_id = ${embedderId} AND chain_id = ANY(${[...chainIds]}::bigint[]) GROUP BY chain_id`
  return new Map(rows.map(({ chain_id, count }) => [chain_id, count]))
}

/** If `name` is null, with the columns below it, the product is not open. */
export type ListedRow = {
  chain_id: number
  merchant_id: bigint
  product_id: Buffer
  changed_in: string
  is_open: boolean
  evidence: string
  name: string | null
  category: string
  description: string
  rank: number
  price: number | null
  min_price: number
  vector: Buffer | null
}

/** A string in SQL where there are no parameters. */
const literal = (text: string): string => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`

/**
 * What is read beside the listing `l`, with the vector of this model. LATERAL … LIMIT 1 forces an index lookup per row; with plain joins the
 * planner may scan whole tables for each page.
 */
const about = (embedderId: string | undefined) => `
  LEFT JOIN LATERAL (
    SELECT p.name, p.category, p.description, p.rank, o.price::float8 AS price, c.min_price::float8 AS min_price, v.vector
    FROM market.products AS p
    JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
    LEFT JOIN market.offers AS o
      ON (o.chain_id, o.merchant_id, o.product_id, o.endpoint_url) = (p.chain_id, p.merchant_id, p.product_id, p.endpoint_url)
    LEFT JOIN market.product_vectors AS v
      ON (v.embedder_id, v.chain_id, v.merchant_id, v.product_id) = (${literal(embedderId ?? '')}, p.chain_id, p.merchant_id, p.product_id)
    WHERE l.is_open AND p.chain_id = l.chain_id AND p.merchant_id = l.merchant_id AND p.product_id = l.product_id LIMIT 1
  ) AS about ON true`

const listed = (sql: Queryable, embedderId: string | undefined, page: ReturnType<Queryable>) => sql`
  SELECT l.chain_id::float8 AS chain_id, l.merchant_id, l.product_id, l.changed_in::text AS changed_in, l.is_open, ${sql.unsafe(WORDS_OF_OTHERS)} AS evidence, about.*
  FROM (${page}) AS l ${sql.unsafe(about(embedderId))}`

/** The snapshot of this moment. Everything that is not visible in it counts as a later change. */
export async function currentSnapshot(sql: Queryable): Promise<string> {
  const [row] = await sql<[{ snapshot: string }]>`SELECT pg_current_snapshot()::text AS snapshot`
  return row.snapshot
}

/** The open products of a chain, in the order of their keys, in pages of `most`. */
export async function* openProducts(
  sql: Queryable,
  chainId: number,
  embedderId: string | undefined,
  most: number,
): AsyncGenerator<ListedRow[]> {
  const pageAfter = ({ merchant_id, product_id }: Pick<ListedRow, 'merchant_id' | 'product_id'>) => {
    const page = sql<ListedRow[]>`
      ${listed(
        sql,
        embedderId,
        sql`SELECT * FROM market.listings
          WHERE chain_id = ${chainId} AND is_open AND (merchant_id, product_id) > (${merchant_id}, ${product_id}::bytea)
          ORDER BY merchant_id, product_id LIMIT ${most}`,
      )}
      ORDER BY l.merchant_id, l.product_id`.execute()
    // If the caller stops early, nobody awaits this page; its failure must not become an unhandled rejection.
    page.catch(() => {})
    return page
  }
  // Prefetch: the next page is read while the caller works on this one.
  let next = pageAfter({ merchant_id: -1n, product_id: Buffer.alloc(0) })
  for (;;) {
    const rows = await next
    const last = rows.at(-1)
    if (!last) return
    next = pageAfter(last)
    yield rows
  }
}

/** A page of them after this key. A COPY takes no parameters. The first field is the key, as `keyOf` makes it: read at once it is one string, and not one of parts. */
export function openProductsQuery(
  chainId: number,
  embedderId: string | undefined,
  last: string | undefined,
  most: number,
): string {
  const after = last === undefined ? { merchantId: -1n, productId: Buffer.alloc(0) } : readKey(last)
  return `
    SELECT int8send(l.merchant_id) || l.product_id, about.name IS NOT NULL, coalesce(about.name, ''), coalesce(about.category, ''),
      coalesce(about.description, ''), ${WORDS_OF_OTHERS}, coalesce(about.rank, 0)::float8, coalesce(about.price, -1), coalesce(about.min_price, 0),
      coalesce(about.vector, '')
    FROM (
      SELECT * FROM market.listings
      WHERE chain_id = ${BigInt(chainId)} AND is_open
        AND (merchant_id, product_id) > (${after.merchantId}, '\\x${after.productId.toString('hex')}'::bytea)
      ORDER BY merchant_id, product_id LIMIT ${most}
    ) AS l ${about(embedderId)}
    ORDER BY l.merchant_id, l.product_id`
}

/**
 * Calls `onProduct` with each open product of a chain, in the order of their keys, and `onPage` after each `most` of them. The binary format
 * spares reading numbers and vectors from text, and an object for each row.
 */
export async function readOpenProducts(
  sql: Queryable,
  chainId: number,
  embedderId: string | undefined,
  { most, onProduct, onPage }: { most: number; onProduct(product: Product): void; onPage(): Promise<void> },
): Promise<void> {
  let last: string | undefined
  for (let read = most; read === most; await onPage()) {
    read = 0
    const query = openProductsQuery(chainId, embedderId, last, most)
    await readRows(paced(copyQueryOut(sql as Transaction, query)), (row) => {
      read += 1
      const key = row.hex(0)
      last = key
      if (!row.boolean(1)) return
      const [price, vector] = [row.float(7), row.bytes(9)]
      onProduct({
        key,
        name: row.text(2),
        category: row.text(3),
        description: row.text(4),
        evidence: row.text(5),
        rank: row.float(6),
        price: price < 0 ? undefined : price,
        leastPrice: row.float(8),
        vector:
          vector.length > 0 ? new Int8Array(vector.buffer, vector.byteOffset, vector.length) : undefined,
      })
    })
  }
}

/** Rows are added in slices of this length, so that a search never waits longer. */
const SLICE_MS = 5

/** Lets others have their turn between the chunks: a stream that has enough to read would not. */
export async function* paced(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun = performance.now()
  for await (const chunk of chunks) {
    yield chunk
    if (performance.now() - begun < SLICE_MS) continue
    await turn()
    begun = performance.now()
  }
}

/**
 * Of listings with changes that are visible now and were not in that snapshot. After a restore from another server,
 * listings can carry transaction ids that this server has not reached yet; they are not changes and are left out.
 */
export const changedSince = (sql: Queryable, since: string) => sql`
  changed_in >= pg_snapshot_xmin(${since}::text::pg_snapshot) AND NOT pg_visible_in_snapshot(changed_in, ${since}::text::pg_snapshot)
  AND changed_in < pg_snapshot_xmax(pg_current_snapshot())`

/** Products that have changed since that snapshot, in the order of the changes. */
export async function* changedProducts(
  sql: Queryable,
  chainIds: readonly number[],
  embedderId: string | undefined,
  since: string,
  most: number,
): AsyncGenerator<ListedRow[]> {
  let after: Pick<ListedRow, 'changed_in' | 'chain_id' | 'merchant_id' | 'product_id'> = {
    changed_in: '0',
    chain_id: 0,
    merchant_id: 0n,
    product_id: Buffer.alloc(0),
  }
  for (;;) {
    const rows = await sql<ListedRow[]>`
      ${listed(
        sql,
        embedderId,
        sql`SELECT * FROM market.listings
          WHERE ${changedSince(sql, since)}
            AND (changed_in, chain_id, merchant_id, product_id)
              > (${after.changed_in}::text::xid8, ${after.chain_id}::bigint, ${after.merchant_id}::bigint, ${after.product_id}::bytea)
            AND chain_id = ANY(${[...chainIds]}::bigint[])
          ORDER BY changed_in, chain_id, merchant_id, product_id LIMIT ${most}`,
      )}
      ORDER BY l.changed_in, l.chain_id, l.merchant_id, l.product_id`
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < most) return
    after = last
  }
}

export const keyOfRow = ({ merchant_id, product_id }: ListedRow): string => keyOf(merchant_id, product_id)

/** Undefined: the product must not be found. */
export function productOf(row: ListedRow): Product | undefined {
  const { name, category, description, evidence, rank, price, min_price, vector } = row
  if (!row.is_open || name === null) return undefined
  return {
    key: keyOfRow(row),
    name,
    category,
    description,
    evidence,
    rank,
    price: price ?? undefined,
    leastPrice: min_price,
    vector: vector ? new Int8Array(vector.buffer, vector.byteOffset, vector.length) : undefined,
  }
}
