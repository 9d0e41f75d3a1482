// Chooses the products that are shown.
import type { Queryable } from '@referrer/database'
import { type Hit, keyOf, productScore } from '@referrer/search'
import { bestRanked, type Filters, findOpen, type ProductRow } from './store.ts'

export interface Chosen {
  /** The product's key in the search index. */
  key: string
  row: ProductRow
  /** How well the product matches the intent, from 0 to 1. */
  intentMatch: number
  score: number
}

interface Choice extends Filters {
  chainId: number
  most: number
}

/**
 * Checks the hits against the present records and fills up with the best-ranked products; best first. Without hits,
 * rank alone decides.
 */
export async function chooseProducts(
  sql: Queryable,
  { chainId, most, ...filters }: Choice,
  hits: readonly Hit[],
): Promise<Chosen[]> {
  const found = await openHits(sql, chainId, filters, hits)
  if (found.length >= most) return found.slice(0, most)

  const best = await bestRanked(sql, chainId, filters, most)
  const keys = new Set(found.map(({ key }) => key))
  const others = best.filter((row) => !keys.has(nameOf(row))).slice(0, most - found.length)
  const scoreOf = ({ rank }: ProductRow) => (found.length === 0 ? rank : productScore(0, rank))
  const fill = others.map((row) => ({ key: nameOf(row), row, intentMatch: 0, score: scoreOf(row) }))
  return [...found, ...fill].sort(bestFirst)
}

/** The hits that are open now and pass the filters; best first. */
export async function openHits(
  sql: Queryable,
  chainId: number,
  filters: Filters,
  hits: readonly Hit[],
): Promise<Chosen[]> {
  const keys = hits.map(({ key }) => key)
  const rows = keys.length === 0 ? [] : await findOpen(sql, chainId, keys, filters)
  const byKey = new Map(rows.map((row) => [nameOf(row), row]))
  const found = hits.flatMap(({ key, intentMatch }): Chosen[] => {
    const row = byKey.get(key)
    return row ? [{ key, row, intentMatch, score: productScore(intentMatch, row.rank) }] : []
  })
  return found.sort(bestFirst)
}

const nameOf = ({ merchant_id, product_id }: ProductRow) => keyOf(merchant_id, product_id)

const bestFirst = (a: Chosen, b: Chosen) => b.score - a.score || (a.key < b.key ? -1 : 1)
