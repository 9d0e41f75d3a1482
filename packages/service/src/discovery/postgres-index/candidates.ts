// The queries for candidates, by words and by vector, under the same filters.
import type { Transaction } from '@referrer/database'
import { productScore, type Vector } from '@referrer/search'
import { tableOf, type VectorTable } from './models.ts'
import { vectorText } from './write-vectors.ts'

const BY_VECTOR = 50
/** How many vectors are looked at, at most, when few pass the filters. */
const VECTORS_PASSED = 5_000

/** A class of ranks or costs: a list with its length. */
export interface Class {
  list: number
  entries: number
}

/** A chain in the schema `search`. */
export interface IndexedChain {
  chainId: number
  size: number
  vectors: VectorTable | undefined
  /** The lowest first. */
  ranks: readonly Class[]
  costs: readonly Class[]
}

/** A list, and what it adds to the score of each product in it. */
export interface Gain {
  list: number
  length: number
  gain: number
}

/** What candidates must fulfil. */
export interface Filter {
  /** The list of the category. */
  category: number | undefined
  ceiling: number | undefined
  /** In one of the lists of each group. */
  groups: readonly (readonly number[])[]
}

export type CandidateRow = {
  slot: number
  merchant_id: bigint
  product_id: Buffer
  rank: number
  uses: Buffer
}

/**
 * Settings for this transaction only. The planner knows nothing of the lengths of single lists, so it is not asked
 * whether to scan the table or to compile. With `iterative_scan` the index scan of vectors continues until enough rows
 * pass the filters.
 */
export async function searchSettings(tx: Transaction, timeoutMs: number): Promise<void> {
  await tx`
    SELECT set_config('statement_timeout', ${`${timeoutMs}`}, true), set_config('jit', 'off', true),
      set_config('enable_seqscan', 'off', true), set_config('max_parallel_workers_per_gather', '0', true),
      set_config('work_mem', '32MB', true), set_config('plan_cache_mode', 'force_generic_plan', true),
      set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', ${`${2 * BY_VECTOR}`}, true),
      set_config('hnsw.max_scan_tuples', ${`${VECTORS_PASSED}`}, true)`
}

/** LATERAL … LIMIT 1 forces an index lookup per row; with plain joins the planner may scan whole tables. */
const documented = (tx: Transaction) => tx`
  CROSS JOIN LATERAL (SELECT merchant_id, product_id, uses FROM search.documents AS d WHERE d.slot = c.slot LIMIT 1) AS d`

/** In this list, if one is given, and passing the filter. All lists are one condition, so that the index intersects them. */
const passing = (tx: Transaction, { category, ceiling, groups }: Filter, list?: ReturnType<Transaction>) => {
  const lists = [...(list ? [list] : []), ...(category === undefined ? [] : [tx`${category}::integer`])]
  return tx`
  ${lists.length === 0 ? tx`true` : tx`lists @> ARRAY[${lists.reduce((all, each) => tx`${all}, ${each}`)}]`}
  ${groups.reduce((all, group) => tx`${all} AND lists && ${[...group]}::integer[]`, tx``)}
  ${ceiling === undefined ? tx`` : tx`AND cost <= ${ceiling}::float8`}`
}

/** Products that pass the filter, which must have a category or a group. */
export const readAll = (tx: Transaction, filter: Filter, most: number) => tx<CandidateRow[]>`
  SELECT c.*, d.* FROM (SELECT slot, rank FROM search.products WHERE ${passing(tx, filter)} LIMIT ${most}) AS c ${documented(tx)}`

/**
 * The best by approximate score of the products in the lists of `read`. The lists of `rest` add no candidates, but
 * complete the scores of those found.
 */
export async function readBest(
  tx: Transaction,
  { read, rest }: { read: readonly Gain[]; rest: readonly Gain[] },
  filter: Filter,
  { entries, most }: { entries: number; most: number },
): Promise<CandidateRow[]> {
  const columns = (gains: readonly Gain[]) =>
    tx`unnest(${gains.map(({ list }) => list)}::integer[], ${gains.map(({ gain }) => gain)}::float8[]) AS l (list, gain)`
  // OFFSET 0: else the planner reads everything that passes the filter once, and looks for each list in every row.
  const inList = tx`WHERE ${passing(tx, filter, tx`l.list`)}`
  // The lists are read in their order until there are enough entries, so a wrong guess of their number does no harm.
  const completed =
    rest.length === 0
      ? tx``
      : tx`
    UNION ALL
    (SELECT e.slot, e.rank, l.gain FROM ${columns(rest)} CROSS JOIN LATERAL (
      SELECT slot, rank FROM search.products ${inList} AND lists && ${read.map(({ list }) => list)}::integer[] OFFSET 0) AS e LIMIT ${entries})`
  return tx<CandidateRow[]>`
    SELECT c.*, d.* FROM (
      SELECT slot, rank FROM (
        (SELECT e.slot, e.rank, l.gain FROM ${columns(read)} CROSS JOIN LATERAL (
          SELECT slot, rank FROM search.products ${inList} OFFSET 0) AS e LIMIT ${entries})
        ${completed}
      ) AS entry
      GROUP BY slot, rank ORDER BY ${productScore(1, 0)}::float8 * sum(gain) + ${productScore(0, 1)}::float8 * rank DESC
      LIMIT ${most}
    ) AS c ${documented(tx)}`
}

/** As a subquery, which is evaluated once; a cast would parse the text again for every row. */
const parsed = (tx: Transaction, vector: Vector) => tx`(SELECT ${vectorText(vector)}::text::halfvec)`

/**
 * How the nearest are found: by comparing all of the category, which lie together in the table (see models.ts); all that
 * pass the filter, wherever they lie; or by following the index, which finds fewer the fewer pass.
 */
export type Way = 'category' | 'each' | 'index'

/** The nearest products that pass the filter. */
export function readNearest(
  tx: Transaction,
  table: VectorTable,
  vector: Vector,
  { filter, way, limit }: { filter: Filter; way: Way; limit: number },
) {
  const asked = parsed(tx, vector)
  const { category, ceiling } = filter
  const most = Math.max(BY_VECTOR, limit)
  // Of two indexes, each way must use its own: what is no plain column is not looked up by category, and OFFSET 0 hides
  // the order from the index of vectors.
  const own = way === 'category' ? tx`category` : tx`category + 0`
  const compared = tx`
    SELECT slot, vector <=> ${asked} AS distance FROM ${tableOf(tx, table)}
    WHERE true ${category === undefined ? tx`` : tx`AND ${own} = ${category}::integer`} ${ceiling === undefined ? tx`` : tx`AND cost <= ${ceiling}::float8`}`
  const nearest = {
    category: () => tx`SELECT * FROM (${compared} OFFSET 0) AS compared ORDER BY distance LIMIT ${most}`,
    each: () => tx`
    SELECT slot, distance FROM (SELECT slot FROM search.products WHERE ${passing(tx, filter)} OFFSET 0) AS passed
    CROSS JOIN LATERAL (SELECT v.vector <=> ${asked} AS distance FROM ${tableOf(tx, table)} AS v WHERE v.slot = passed.slot LIMIT 1) AS v
    ORDER BY distance LIMIT ${most}`,
    index: () => tx`${compared} ORDER BY vector <=> ${asked} LIMIT ${most}`,
  }[way]()
  return tx<(CandidateRow & { cosine: number })[]>`
    SELECT c.slot, 1 - c.distance AS cosine, p.*, d.* FROM (${nearest}) AS c
    CROSS JOIN LATERAL (SELECT rank FROM search.products AS p WHERE p.slot = c.slot LIMIT 1) AS p ${documented(tx)}`
}

/** By slot; products without a vector are left out. */
export async function readCosines(
  tx: Transaction,
  table: VectorTable,
  vector: Vector,
  slots: readonly number[],
): Promise<Map<number, number>> {
  if (slots.length === 0) return new Map()
  const rows = await tx<{ slot: number; cosine: number }[]>`
    SELECT slot, 1 - (vector <=> ${parsed(tx, vector)}) AS cosine FROM ${tableOf(tx, table)}
    WHERE slot = ANY(${[...slots]}::integer[])`
  return new Map(rows.map(({ slot, cosine }) => [slot, cosine]))
}

/** By slot; products without a vector are left out. */
export async function readVectors(
  tx: Transaction,
  table: VectorTable,
  slots: readonly number[],
): Promise<Map<number, Vector>> {
  if (slots.length === 0) return new Map()
  const rows = await tx<{ slot: number; vector: string }[]>`
    SELECT slot, vector::text AS vector FROM ${tableOf(tx, table)} WHERE slot = ANY(${[...slots]}::integer[])`
  return new Map(rows.map(({ slot, vector }) => [slot, Int8Array.from(JSON.parse(vector))]))
}
