// Postgres finds the candidates; the scores come from the same functions as in the memory index.
import type { Sql, Transaction } from '@referrer/database'
import {
  type Aim,
  aimAt,
  type Explained,
  type ExplainedHit,
  GUIDES,
  type Hit,
  intentMatch,
  keyOf,
  nearness,
  productScore,
  type Question,
  type ReadWord,
  readingOf,
  type Vector,
  type Wish,
  wordMatch,
} from '@referrer/search'
import {
  type CandidateRow,
  type IndexedChain,
  readCandidates,
  readVectors,
  searchSettings,
  type Wanted,
} from './candidates.ts'
import { readQuestion } from './vocabulary.ts'

/**
 * Candidates are selected by the rarest terms. Once these may have selected this many products, the more common terms
 * only count in the score.
 */
const ENOUGH_CANDIDATES = 50_000

/** Throws if it takes longer than `timeoutMs`. */
export async function findProducts(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<Hit[]> {
  const { hits } = await searchTables(sql, indexed, question, timeoutMs)
  return hits.map(({ key, intentMatch, rank }) => ({ key, intentMatch, rank }))
}

/** The same, with how it came about. */
export async function explainProducts(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<Explained> {
  const { hits, share, wishes } = await searchTables(sql, indexed, question, timeoutMs)
  return { hits, share, reading: readingOf(question.intent, wishes) }
}

async function searchTables(
  sql: Sql,
  indexed: IndexedChain,
  question: Question,
  timeoutMs: number,
): Promise<{ hits: ExplainedHit[]; share: number; wishes: readonly ReadWord[] }> {
  const { wishes, holders } = await readQuestion(sql, indexed, question.intent)
  const gains = gainsOf(wishes)
  const wanted: Wanted = { gains, anyOf: selectingTerms(gains, holders), vector: undefined }
  const wordsOf = matcher(wishes, [...gains.keys()])
  return sql.begin(async (tx) => {
    await searchSettings(tx, timeoutMs)
    const aim = await aimOf(tx, indexed, question.vector, wanted, wordsOf)
    const rows = await readCandidates(tx, indexed, { ...wanted, vector: aim?.vector }, question)
    const share = aim?.share ?? 0
    const hits = rows.map((row) => {
      const [words, near] = [wordsOf(row), nearness(row.cosine ?? 0)]
      return { key: keyOfRow(row), intentMatch: intentMatch(words, near, share), rank: row.rank, words, near }
    })
    const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
    const best = hits
      .filter((hit) => hit.intentMatch > 0)
      .sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1))
      .slice(0, question.limit)
    return { hits: best, share, wishes }
  })
}

const keyOfRow = ({ merchant_id, product_id }: CandidateRow) => keyOf(merchant_id, product_id)

type WordsOf = (row: CandidateRow) => number

function matcher(wishes: readonly Wish[], terms: readonly string[]): WordsOf {
  const places = new Map(terms.map((term, place) => [term, place]))
  return ({ worths }) => wordMatch(wishes, (term) => (worths[places.get(term) ?? -1] ?? 0) / 255)
}

/**
 * Adjusts the vector by the best word matches of the whole catalogue. Undefined for a vector of another model or one
 * of zeros: words alone decide.
 */
async function aimOf(
  tx: Transaction,
  indexed: IndexedChain,
  vector: Vector | undefined,
  wanted: Wanted,
  wordsOf: WordsOf,
): Promise<Aim | undefined> {
  const { vectors } = indexed
  if (!vector || !vectors || vector.length !== vectors.dims || vector.every((value) => value === 0))
    return undefined
  const rows = await readCandidates(tx, indexed, wanted, {
    category: undefined,
    ceiling: undefined,
    limit: GUIDES,
  })
  const guides = rows
    .map((row) => ({ key: keyOfRow(row), words: wordsOf(row) }))
    .filter(({ words }) => words > 0)
    .sort((a, b) => b.words - a.words || (a.key < b.key ? -1 : 1))
    .slice(0, GUIDES)
  const near = await readVectors(
    tx,
    vectors,
    guides.map(({ key }) => key),
  )
  return aimAt(
    vector,
    guides.map(({ words }, index) => ({ words, vector: near[index] })),
  )
}

/** The share of the whole score that a product gains by each term. */
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

/** The terms by which candidates are selected. */
function selectingTerms(gains: ReadonlyMap<string, number>, holders: (term: string) => number): string[] {
  let named = 0
  return [...gains.keys()]
    .sort((a, b) => holders(a) - holders(b) || (a < b ? -1 : 1))
    .filter((term) => {
      const isLookedUp = named < ENOUGH_CANDIDATES
      named += holders(term)
      return isLookedUp
    })
}
