// Candidates by words and by vector, both under the filters, in one statement; the engine that ranks them is the one of `@referrer/search`.
import type { Sql, Transaction } from '@referrer/database'
import {
  type Hit,
  intentMatch,
  keyOf,
  nearness,
  productScore,
  type Question,
  type Vector,
  vectorShare,
  type Wish,
  wordMatch,
} from '@referrer/search'
import { tableOf, type VectorTable } from './models.ts'
import { readQuestion } from './vocabulary.ts'
import { vectorText } from './write-vectors.ts'

const BY_WORDS = 200
const BY_VECTOR = 100
/** The rarest terms name the candidates; commoner ones count, and are not looked up once so many products were named. */
const NAMED = 50_000
/** What a term is worth by its weight, from D to A: the middle of each quarter. */
const QUARTERS = [0.125, 0.375, 0.625, 0.875]
/** By which ts_rank divides the weight of a word that stands alone. */
const ALONE = 1.64493406685

/** A chain as it is in the schema `search`. */
export interface Shelf {
  chainId: number
  size: number
  vectors: VectorTable | undefined
}

type CandidateRow = {
  merchant_id: bigint
  product_id: Buffer
  rank: number
  worths: number[]
  cosine: number | null
}

/** Fails when it takes longer than `patienceMs`. */
export async function findProducts(
  sql: Sql,
  shelf: Shelf,
  question: Question,
  patienceMs: number,
): Promise<Hit[]> {
  const { wishes, holders } = await readQuestion(sql, shelf, question.intent)
  const vector = fitVector(question.vector, shelf.vectors)
  const gains = gainsOf(wishes)
  if (gains.size === 0 && !vector) return []
  const rows = await sql.begin(async (tx) => {
    await tx`
      SELECT set_config('statement_timeout', ${`${patienceMs}`}, true), set_config('hnsw.iterative_scan', 'strict_order', true),
        set_config('hnsw.ef_search', ${`${2 * BY_VECTOR}`}, true)`
    return readCandidates(tx, shelf, { ...question, vector }, gains, namingTerms(gains, holders))
  })
  const share = vector ? vectorShare(wishes) : 0
  const terms = [...gains.keys()]
  const hits = rows.flatMap((row): Hit[] => {
    const worths = new Map(terms.map((term, index) => [term, (row.worths[index] ?? 0) / 255]))
    const words = wordMatch(wishes, (term) => worths.get(term) ?? 0)
    const match = intentMatch(words, nearness(row.cosine ?? 0), share)
    return match > 0
      ? [{ key: keyOf(row.merchant_id, row.product_id), intentMatch: match, rank: row.rank }]
      : []
  })
  const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
  return hits.sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1)).slice(0, question.limit)
}

/** Asked with a vector of another model, or one that points nowhere, words alone decide. */
function fitVector(vector: Vector | undefined, table: VectorTable | undefined): Vector | undefined {
  return vector?.length === table?.dims && vector?.some((value) => value !== 0) ? vector : undefined
}

/** What a product gains by each term that fulfils a wish, of all that can be gained. */
function gainsOf(wishes: readonly Wish[]): Map<string, number> {
  const all = wishes.reduce((sum, { weight }) => sum + weight, 0)
  const gains = new Map<string, number>()
  for (const { weight, ways } of wishes) {
    for (const { terms, likeness } of ways) {
      const gain = (weight * likeness) / terms.length / all
      for (const term of terms) gains.set(term, (gains.get(term) ?? 0) + gain)
    }
  }
  return gains
}

/** Of the terms those that candidates are looked for by. */
function namingTerms(gains: ReadonlyMap<string, number>, holders: (term: string) => number): string[] {
  let named = 0
  return [...gains.keys()]
    .sort((a, b) => holders(a) - holders(b) || (a < b ? -1 : 1))
    .filter((term) => {
      const isLookedUp = named < NAMED
      named += holders(term)
      return isLookedUp
    })
}

function readCandidates(
  tx: Transaction,
  { chainId, vectors }: Shelf,
  { vector, category, ceiling, limit }: Question,
  gains: ReadonlyMap<string, number>,
  naming: readonly string[],
): Promise<CandidateRow[]> {
  const terms = [...gains.keys()]
  const filter = tx`
    ${category === undefined ? tx`` : tx`AND category = ${category}`} ${ceiling === undefined ? tx`` : tx`AND cost <= ${ceiling}::float8`}`
  const byWords = tx`
    (SELECT merchant_id, product_id FROM search.products
    WHERE chain_id = ${chainId} AND terms @@ ${naming.map((term) => `'${term}'`).join(' | ')}::text::tsquery ${filter}
    ORDER BY ${productScore(1, 0)}::float8 * (
        SELECT sum(gain * ${ALONE}::float8 * ts_rank(${QUARTERS}::real[], terms, asked)) FROM unnest(
          ${terms.map((term) => `'${term}'`)}::tsquery[], ${[...gains.values()]}::float8[]) AS a (asked, gain)
      ) + ${productScore(0, 1)}::float8 * rank DESC, merchant_id, product_id
    LIMIT ${Math.max(BY_WORDS, 2 * limit)})`
  const asked = tx`${vector ? vectorText(vector) : ''}::text::halfvec`
  const isNear = vector !== undefined && vectors !== undefined
  const byVector =
    isNear &&
    tx`
    (SELECT merchant_id, product_id FROM ${tableOf(tx, vectors)} WHERE true ${filter}
    ORDER BY vector <=> ${asked} LIMIT ${Math.max(BY_VECTOR, limit)})`
  return tx<CandidateRow[]>`
    SELECT p.merchant_id, p.product_id, p.rank,
      ARRAY(SELECT coalesce((p.worths->>term)::integer, 0) FROM unnest(${terms}::text[]) WITH ORDINALITY AS a (term, at) ORDER BY at) AS worths,
      ${isNear ? tx`1 - (v.vector <=> ${asked})` : tx`NULL::float8`} AS cosine
    FROM (${naming.length > 0 ? byWords : tx``} ${naming.length > 0 && byVector ? tx`UNION` : tx``} ${byVector || tx``}) AS c
    JOIN search.products AS p ON p.chain_id = ${chainId} AND (p.merchant_id, p.product_id) = (c.merchant_id, c.product_id)
    ${isNear ? tx`LEFT JOIN ${tableOf(tx, vectors)} AS v ON (v.merchant_id, v.product_id) = (c.merchant_id, c.product_id)` : tx``}`
}
