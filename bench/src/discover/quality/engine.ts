// The engine itself, with the products of a market: it answers deeper than the endpoint does, and with the vectors of any model.
import type { Sql } from '@referrer/database'
import { Catalogue, cosine, keyOf, type Product, readCells, type Vector } from '@referrer/search'
import { productText } from '@referrer/service/testing'
import type { JudgedSet, Query } from './sets.ts'

/** A product of the market: its id in the set, the id that the endpoint writes, and the text that is embedded. */
export interface Listed extends Omit<Product, 'vector'> {
  id: string
  shownAs: string
  text: string
}

type Row = {
  n: number
  merchant_id: bigint
  product_id: Buffer
  name: string
  category: string
  description: string
  rank: number
  min_price: bigint
  price: bigint | null
  text: string
}

export async function readListed(sql: Sql, { ids }: JudgedSet): Promise<Listed[]> {
  const rows = await sql<Row[]>`
    SELECT substring(o.endpoint_url FROM '\\d+$')::int AS n, p.merchant_id, p.product_id, p.name, p.category, p.description, p.rank,
      c.min_price, o.price, ${productText(sql)} AS text
    FROM market.products AS p JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
    JOIN market.offers AS o USING (chain_id, merchant_id, product_id)`
  return rows.map(({ n, merchant_id, product_id, min_price, price, ...texts }) => ({
    ...texts,
    id: ids[n - 1] ?? '',
    shownAs: `0x${product_id.toString('hex')}`,
    key: keyOf(merchant_id, product_id),
    evidence: '',
    price: price === null ? undefined : Number(price),
    leastPrice: Number(min_price),
  }))
}

export interface Engine {
  /** Ids of products, best first. `text` is how the question is put. */
  find(query: Query, text: string, vector: Vector | undefined, limit: number): string[]
  /** By the vector alone. */
  nearest(query: Query, vector: Vector, limit: number): string[]
}

/** `cells`: the groups of vectors that a service searches; without them all are compared. */
export function openEngine(
  products: readonly Listed[],
  vectors: readonly Vector[] | undefined,
  cells?: Buffer,
): Engine {
  const catalogue = new Catalogue()
  products.forEach((product, at) => {
    catalogue.put({ ...product, vector: vectors?.[at] })
  })
  if (cells) catalogue.useCells(readCells(cells))
  const ids = new Map(products.map(({ key, id }) => [key, id]))
  return {
    find: ({ category, ceiling }, intent, vector, limit) =>
      catalogue.find({ intent, vector, category, ceiling, limit }).map(({ key }) => ids.get(key) as string),
    nearest: (query, vector, limit) =>
      products
        .map((product, at) => ({ product, near: cosine(vector, vectors?.[at] ?? new Int8Array()) }))
        .filter(({ product }) => passes(product, query))
        .sort((a, b) => b.near - a.near || (a.product.key < b.product.key ? -1 : 1))
        .slice(0, limit)
        .map(({ product }) => product.id),
  }
}

/** What the filters of the question let through. */
export const passes = ({ category, price, leastPrice }: Listed, query: Query): boolean =>
  (query.category === undefined || query.category === category) &&
  (query.ceiling === undefined || (price ?? leastPrice) <= query.ceiling)
