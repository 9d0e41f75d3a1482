// Looks up the words of a question in Postgres. Which words matter is known only after a look-up: an unknown word may
// be two words, or a misspelling. So the question is interpreted again until it needs nothing unknown, usually twice.
import type { Sql } from '@referrer/database'
import {
  canBeMisspelt,
  nearestWords,
  type ReadWord,
  type Similar,
  STEPS,
  type Wish,
  wishesOf,
} from '@referrer/search'
import { listOf } from './lists.ts'

/** Two typing errors in a word of eight letters leave a fifth of its trigrams. */
const LEAST_SIMILAR = 0.19
const SIMILAR = 100

/** A term with the lengths of its lists. */
interface Known {
  /** Undefined: no product has it. */
  number: number | undefined
  lengths: readonly number[]
}

export interface Understood {
  words: ReadWord[]
  /** The same with the numbers of their terms. */
  wishes: Wish<number>[]
  /** The lengths of a term's lists, by step. */
  lengths(term: number): readonly number[]
  /** The category, if the question names one. */
  category: Known | undefined
}

const NONE: Known = { number: undefined, lengths: Array(STEPS).fill(0) }

export async function readQuestion(
  sql: Sql,
  chain: { chainId: number; size: number },
  intent: string,
  category: string | undefined,
): Promise<Understood> {
  const known = new Map<string, Known>()
  const similar = new Map<string, readonly Similar[]>()
  const terms = new Set(category === undefined ? [] : [category])
  const words = new Set<string>()
  const lookUp = (term: string): readonly number[] | undefined => {
    const found = known.get(term)
    if (!found) terms.add(term)
    return found?.lengths
  }
  for (;;) {
    const read = wishesOf(intent, {
      size: chain.size,
      // Until its count is known, a word is assumed to be common.
      users: (term) =>
        lookUp(term)?.reduce((sum, length, step) => (step > 0 ? sum + length : sum), 0) ?? chain.size,
      heard: (term) => lookUp(term)?.[0] ?? 0,
      similar(word) {
        if (!canBeMisspelt(word)) return []
        const near = similar.get(word)
        if (!near) words.add(word)
        return near ?? []
      },
    })
    if (terms.size === 0 && words.size === 0) {
      const byNumber = new Map([...known.values()].map(({ number, lengths }) => [number, lengths]))
      return {
        words: read,
        wishes: read.map(({ weight, ways }) => ({
          weight,
          ways: ways.map((way) => ({
            likeness: way.likeness,
            terms: way.terms.flatMap((term) => known.get(term)?.number ?? []),
          })),
        })),
        lengths: (term) => byNumber.get(term) ?? NONE.lengths,
        category: category === undefined ? undefined : known.get(category),
      }
    }
    const [found, near] = await Promise.all([
      terms.size === 0 ? [] : readTerms(sql, chain.chainId, [...terms]),
      words.size === 0 ? [] : nearWords(sql, chain.chainId, [...words]),
    ])
    for (const term of terms) known.set(term, NONE)
    for (const [term, own] of Map.groupBy(found, ({ term }) => term)) known.set(term, knownOf(own))
    for (const word of words) {
      similar.set(
        word,
        nearestWords(
          word,
          near.filter(({ asked }) => asked === word),
        ),
      )
    }
    terms.clear()
    words.clear()
  }
}

type TermRow = { term: string; number: number; list: number | null; entries: number | null }

function knownOf(rows: readonly TermRow[]): Known {
  const { number } = rows[0] as TermRow
  const entries = new Map(rows.map(({ list, entries }) => [list, entries ?? 0]))
  return {
    number,
    lengths: Array.from({ length: STEPS }, (_, step) => entries.get(listOf(number, step)) ?? 0),
  }
}

export const readTerms = (sql: Sql, chainId: number, terms: readonly string[]) => sql<TermRow[]>`
  SELECT t.term, t.number, l.list, l.entries FROM search.terms AS t
  LEFT JOIN search.lengths AS l ON l.list BETWEEN ${STEPS}::integer * t.number AND ${STEPS}::integer * t.number + ${STEPS - 1}::integer
  WHERE t.chain_id = ${chainId} AND t.term = ANY(${[...terms]}::text[])`

type NearRow = { asked: string; word: string; users: number }

const nearWords = (sql: Sql, chainId: number, words: readonly string[]): Promise<NearRow[]> =>
  sql.begin(async (tx) => {
    const [, near] = await Promise.all([
      tx`SELECT set_config('pg_trgm.similarity_threshold', ${`${LEAST_SIMILAR}`}, true)`,
      tx<NearRow[]>`
        SELECT a.asked, near.word, near.users FROM unnest(${[...words]}::text[]) AS a (asked) CROSS JOIN LATERAL (
          SELECT word, users FROM search.words WHERE chain_id = ${chainId} AND word % a.asked AND users > 0
          ORDER BY similarity(word, a.asked) DESC, word LIMIT ${SIMILAR}) AS near`,
    ])
    return near
  })
