// The engine itself, with the products and the groups that a service uses: it answers deeper than the endpoint does.
import type { Sql } from '@referrer/database'
import { Catalogue, cosine, keyOf, readCells, type Vector } from '@referrer/search'
import { LOCAL } from '@referrer/service/testing'

export interface Engine {
  /** Ids of products, as the endpoint writes them, best first. */
  find(intent: string, vector: Vector | undefined, limit: number): string[]
  /** By the vector alone. */
  nearest(vector: Vector, limit: number): string[]
}

type Row = {
  merchant_id: bigint
  product_id: Buffer
  name: string
  category: string
  description: string
  rank: number
  min_price: bigint
  price: bigint | null
  vector: Buffer | null
}

export async function openEngine(sql: Sql, withVectors: boolean): Promise<Engine> {
  const catalogue = new Catalogue()
  const vectors = new Map<string, Vector>()
  const ids = new Map<string, string>()
  const rows = await sql<Row[]>`
    SELECT p.merchant_id, p.product_id, p.name, p.category, p.description, p.rank, c.min_price, o.price, v.vector
    FROM market.products AS p JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
    LEFT JOIN market.offers AS o USING (chain_id, merchant_id, product_id)
    LEFT JOIN market.product_vectors AS v USING (chain_id, merchant_id, product_id)`
  for (const { merchant_id, product_id, min_price, price, vector: bytes, ...texts } of rows) {
    const key = keyOf(merchant_id, product_id)
    const vector = bytes && withVectors ? new Int8Array(bytes) : undefined
    ids.set(key, `0x${product_id.toString('hex')}`)
    if (vector) vectors.set(key, vector)
    catalogue.put({
      ...texts,
      key,
      evidence: '',
      price: price === null ? undefined : Number(price),
      leastPrice: Number(min_price),
      vector,
    })
  }
  const [cells] = await sql<{ points: Buffer }[]>`
    SELECT points FROM market.vector_cells WHERE embedder_id = ${LOCAL.id}`
  if (cells && withVectors) catalogue.useCells(readCells(cells.points))
  const idOf = (key: string) => ids.get(key) ?? ''
  return {
    find: (intent, vector, limit) =>
      catalogue
        .find({ intent, vector, category: undefined, ceiling: undefined, limit })
        .map(({ key }) => idOf(key)),
    nearest: (vector, limit) =>
      [...vectors]
        .map(([key, own]) => ({ key, near: cosine(vector, own) }))
        .sort((a, b) => b.near - a.near || (a.key < b.key ? -1 : 1))
        .slice(0, limit)
        .map(({ key }) => idOf(key)),
  }
}
