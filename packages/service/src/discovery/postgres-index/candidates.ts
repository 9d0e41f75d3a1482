// The queries for candidates, by words and by vector, under the same filters.
import type { Transaction } from '@referrer/database'
import { productScore, type Question, type Vector } from '@referrer/search'
import { columns } from './columns.ts'
import { tableOf, type VectorTable } from './models.ts'
import { vectorText } from './write-vectors.ts'

const BY_WORDS = 200
const BY_VECTOR = 100
/** The worth of a term for the tsvector weights D to A: the middle of each quarter. */
const QUARTERS = [0.125, 0.375, 0.625, 0.875]
/** ts_rank divides the weight of a single word by this constant (π²/6); multiplying undoes it. */
const ALONE = 1.64493406685

/** A chain in the schema `search`. */
export interface IndexedChain {
  chainId: number
  size: number
  vectors: VectorTable | undefined
}

/** The search criteria for candidates. */
export interface Wanted {
  /** Each term that counts, with the score a product gains by it. */
  gains: ReadonlyMap<string, number>
  /** A candidate by words contains at least one of these terms. */
  anyOf: readonly string[]
  vector: Vector | undefined
}

export type Filters = Pick<Question, 'category' | 'ceiling' | 'limit'>

export type CandidateRow = {
  merchant_id: bigint
  product_id: Buffer
  rank: number
  /** The worth of each term in `gains`, from 0 to 255. */
  worths: number[]
  cosine: number | null
}

/**
 * Settings for this transaction only. With `iterative_scan` the index scan continues until enough rows pass the
 * filters.
 */
export async function searchSettings(tx: Transaction, timeoutMs: number): Promise<void> {
  await tx`
    SELECT set_config('statement_timeout', ${`${timeoutMs}`}, true), set_config('hnsw.iterative_scan', 'strict_order', true),
      set_config('hnsw.ef_search', ${`${2 * BY_VECTOR}`}, true)`
}

const lexeme = (term: string) => `'${term}'`

export async function readCandidates(
  tx: Transaction,
  { chainId, vectors }: IndexedChain,
  { gains, anyOf, vector }: Wanted,
  { category, ceiling, limit }: Filters,
): Promise<CandidateRow[]> {
  const isNear = vector !== undefined && vectors !== undefined
  if (anyOf.length === 0 && !isNear) return []
  const terms = [...gains.keys()]
  const filter = tx`
    ${category === undefined ? tx`` : tx`AND category = ${category}`} ${ceiling === undefined ? tx`` : tx`AND cost <= ${ceiling}::float8`}`
  const byWords = tx`
    (SELECT merchant_id, product_id FROM search.products
    WHERE chain_id = ${chainId} AND terms @@ ${anyOf.map(lexeme).join(' | ')}::text::tsquery ${filter}
    ORDER BY ${productScore(1, 0)}::float8 * (
        SELECT sum(gain * ${ALONE}::float8 * ts_rank(${QUARTERS}::float8[]::real[], terms, asked::tsquery))
        FROM unnest(${terms.map(lexeme)}::text[], ${[...gains.values()]}::float8[]) AS a (asked, gain)
      ) + ${productScore(0, 1)}::float8 * rank DESC, merchant_id, product_id
    LIMIT ${Math.max(BY_WORDS, 2 * limit)})`
  const asked = tx`${vector ? vectorText(vector) : ''}::text::halfvec`
  const byVector = isNear
    ? tx`
    (SELECT merchant_id, product_id FROM ${tableOf(tx, vectors)} WHERE true ${filter}
    ORDER BY vector <=> ${asked} LIMIT ${Math.max(BY_VECTOR, limit)})`
    : tx``
  return tx<CandidateRow[]>`
    SELECT p.merchant_id, p.product_id, p.rank,
      ARRAY(SELECT coalesce((p.worths->>term)::integer, 0) FROM unnest(${terms}::text[]) WITH ORDINALITY AS a (term, at) ORDER BY at) AS worths,
      ${isNear ? tx`1 - (v.vector <=> ${asked})` : tx`NULL::float8`} AS cosine
    FROM (${anyOf.length > 0 ? byWords : tx``} ${anyOf.length > 0 && isNear ? tx`UNION` : tx``} ${byVector}) AS c
    JOIN search.products AS p ON p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (c.merchant_id, c.product_id)
    ${isNear ? tx`LEFT JOIN ${tableOf(tx, vectors)} AS v ON (v.merchant_id, v.product_id) = (c.merchant_id, c.product_id)` : tx``}`
}

/** In the order of the keys; undefined: the product has no vector. */
export async function readVectors(
  tx: Transaction,
  table: VectorTable,
  keys: readonly string[],
): Promise<(Vector | undefined)[]> {
  if (keys.length === 0) return []
  const [merchantIds, productIds] = columns(keys)
  const rows = await tx<{ vector: string | null }[]>`
    SELECT v.vector::text AS vector
    FROM unnest(${merchantIds}::bigint[], ${productIds}::bytea[]) WITH ORDINALITY AS k (merchant_id, product_id, at)
    LEFT JOIN ${tableOf(tx, table)} AS v USING (merchant_id, product_id) ORDER BY at`
  return rows.map(({ vector }) => (vector === null ? undefined : Int8Array.from(JSON.parse(vector))))
}
