import { createHash } from 'node:crypto'
import type { Transaction } from '@referrer/database'
import { keyOf, type Product, type Vector } from '@referrer/search'
import { columns, costOf } from './columns.ts'
import { tableOf, type VectorTable } from './models.ts'

type KeptVector = {
  merchant_id: bigint
  product_id: Buffer
  category: string
  cost: number
  vector_hash: Buffer
}

/** A vector of another length belongs to another model, and one of zeros has no direction. */
const isFit = (vector: Vector | undefined, dims: number): vector is Vector =>
  vector?.length === dims && vector.some((value) => value !== 0)

export const vectorText = (vector: Vector): string => `[${vector.join()}]`

export async function writeVectors(
  tx: Transaction,
  table: VectorTable,
  products: readonly Product[],
  gone: readonly string[],
): Promise<void> {
  const given = products.flatMap((product) =>
    isFit(product.vector, table.dims)
      ? [{ product, vector: product.vector, hash: createHash('sha256').update(product.vector).digest() }]
      : [],
  )
  const keys = [...products.map(({ key }) => key), ...gone]
  const kept = await keptVectors(tx, table, keys)
  const wanted = new Set(given.map(({ product }) => product.key))
  const lost = [...kept.keys()].filter((key) => !wanted.has(key))
  const changed = given.filter(({ product, hash }) => {
    const row = kept.get(product.key)
    return !row?.vector_hash.equals(hash) || row.category !== product.category || row.cost !== costOf(product)
  })
  if (lost.length > 0) {
    const [merchantIds, productIds] = columns(lost)
    await tx`
      DELETE FROM ${tableOf(tx, table)} AS v USING unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id)
      WHERE (v.merchant_id, v.product_id) = (k.merchant_id, k.product_id)`
  }
  if (changed.length === 0) return
  const [merchantIds, productIds] = columns(changed.map(({ product }) => product.key))
  await tx`
    INSERT INTO ${tableOf(tx, table)} (merchant_id, product_id, category, cost, vector, vector_hash)
    SELECT merchant_id, product_id, category, cost, vector::halfvec, vector_hash
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[], ${changed.map(({ product }) => product.category)}::text[],
      ${changed.map(({ product }) => costOf(product))}::float8[], ${changed.map(({ vector }) => vectorText(vector))}::text[],
      ${changed.map(({ hash }) => hash)}::bytea[]
    ) AS k (merchant_id, product_id, category, cost, vector, vector_hash)
    ON CONFLICT (merchant_id, product_id) DO UPDATE SET category = excluded.category, cost = excluded.cost,
      vector = excluded.vector, vector_hash = excluded.vector_hash`
}

async function keptVectors(
  tx: Transaction,
  table: VectorTable,
  keys: readonly string[],
): Promise<Map<string, KeptVector>> {
  const [merchantIds, productIds] = columns(keys)
  const rows = await tx<KeptVector[]>`
    SELECT merchant_id, product_id, category, cost, vector_hash FROM ${tableOf(tx, table)}
    JOIN unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) AS k (merchant_id, product_id) USING (merchant_id, product_id)`
  return new Map(rows.map((row) => [keyOf(row.merchant_id, row.product_id), row]))
}
