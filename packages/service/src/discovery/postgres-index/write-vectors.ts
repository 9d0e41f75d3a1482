import { createHash } from 'node:crypto'
import type { Transaction } from '@referrer/database'
import type { Product, Vector } from '@referrer/search'
import { costOf } from './lists.ts'
import { tableOf, type VectorTable } from './models.ts'

type KeptVector = { slot: number; category: number; cost: number; vector_hash: Buffer }

export interface Placed {
  slot: number
  /** The list of the category. */
  category: number
  product: Product
}

/** A vector of another length belongs to another model, and one of zeros has no direction. */
const isFit = (vector: Vector | undefined, dims: number): vector is Vector =>
  vector?.length === dims && vector.some((value) => value !== 0)

export const vectorText = (vector: Vector): string => `[${vector.join()}]`

export async function writeVectors(
  tx: Transaction,
  table: VectorTable,
  placed: readonly Placed[],
  gone: readonly number[],
): Promise<void> {
  const given = placed.flatMap(({ slot, category, product }) =>
    isFit(product.vector, table.dims)
      ? [
          {
            slot,
            category,
            cost: costOf(product),
            vector: product.vector,
            hash: createHash('sha256').update(product.vector).digest(),
          },
        ]
      : [],
  )
  const kept = await keptVectors(tx, table, [...placed.map(({ slot }) => slot), ...gone])
  const wanted = new Set(given.map(({ slot }) => slot))
  const lost = [...kept.keys()].filter((slot) => !wanted.has(slot))
  const changed = given.filter(({ slot, category, cost, hash }) => {
    const row = kept.get(slot)
    return !row?.vector_hash.equals(hash) || row.category !== category || row.cost !== cost
  })
  if (lost.length > 0) await tx`DELETE FROM ${tableOf(tx, table)} WHERE slot = ANY(${lost}::integer[])`
  if (changed.length === 0) return
  await tx`
    INSERT INTO ${tableOf(tx, table)} (slot, category, cost, vector, vector_hash)
    SELECT slot, category, cost, vector::halfvec, vector_hash
    FROM unnest(${changed.map(({ slot }) => slot)}::integer[], ${changed.map(({ category }) => category)}::integer[],
      ${changed.map(({ cost }) => cost)}::float8[], ${changed.map(({ vector }) => vectorText(vector))}::text[],
      ${changed.map(({ hash }) => hash)}::bytea[]
    ) AS k (slot, category, cost, vector, vector_hash)
    ON CONFLICT (slot) DO UPDATE SET category = excluded.category, cost = excluded.cost, vector = excluded.vector,
      vector_hash = excluded.vector_hash`
}

async function keptVectors(
  tx: Transaction,
  table: VectorTable,
  slots: readonly number[],
): Promise<Map<number, KeptVector>> {
  const rows = await tx<KeptVector[]>`
    SELECT slot, category, cost, vector_hash FROM ${tableOf(tx, table)} WHERE slot = ANY(${[...slots]}::integer[])`
  return new Map(rows.map((row) => [row.slot, row]))
}
