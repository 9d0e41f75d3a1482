// Looks up the words of a question in Postgres. Which words matter is known only after a look-up: an unknown word may
// be two words, or a misspelling. So the question is interpreted again until it needs nothing unknown, usually twice.
import type { Sql } from '@referrer/database'
import { nearestWords, type ReadWord, type Similar, wishesOf } from '@referrer/search'

/** Two typing errors in a word of eight letters leave a fifth of its trigrams. */
const LEAST_SIMILAR = 0.19
const SIMILAR = 100

type Known = { users: number; heard: number }

export interface Understood {
  wishes: ReadWord[]
  /** The number of products that contain the term. */
  holders(term: string): number
}

export async function readQuestion(
  sql: Sql,
  chain: { chainId: number; size: number },
  intent: string,
): Promise<Understood> {
  const known = new Map<string, Known>()
  const similar = new Map<string, readonly Similar[]>()
  for (;;) {
    const terms = new Set<string>()
    const words = new Set<string>()
    const lookUp = (term: string): Known => {
      const count = known.get(term)
      if (!count) terms.add(term)
      // Until its count is known, a word is assumed to be common.
      return count ?? { users: chain.size, heard: 0 }
    }
    const wishes = wishesOf(intent, {
      size: chain.size,
      users: (term) => lookUp(term).users,
      heard: (term) => lookUp(term).heard,
      similar(word) {
        const near = similar.get(word)
        if (!near) words.add(word)
        return near ?? []
      },
    })
    if (terms.size === 0 && words.size === 0) {
      return { wishes, holders: (term) => lookUp(term).users + lookUp(term).heard }
    }
    if (terms.size > 0) {
      for (const term of terms) known.set(term, { users: 0, heard: 0 })
      for (const { term, ...count } of await counted(sql, chain.chainId, [...terms])) known.set(term, count)
    }
    if (words.size > 0) {
      const near = await nearWords(sql, chain.chainId, [...words])
      for (const word of words) {
        similar.set(
          word,
          nearestWords(
            word,
            near.filter(({ asked }) => asked === word),
          ),
        )
      }
    }
  }
}

const counted = (sql: Sql, chainId: number, terms: readonly string[]) => sql<({ term: string } & Known)[]>`
  SELECT term, users, heard FROM search.terms WHERE chain_id = ${chainId} AND term = ANY(${[...terms]}::text[])`

type NearRow = { asked: string; word: string; users: number }

const nearWords = (sql: Sql, chainId: number, words: readonly string[]): Promise<NearRow[]> =>
  sql.begin(async (tx) => {
    await tx`SELECT set_config('pg_trgm.similarity_threshold', ${`${LEAST_SIMILAR}`}, true)`
    return tx<NearRow[]>`
      SELECT a.asked, near.word, near.users FROM unnest(${[...words]}::text[]) AS a (asked) CROSS JOIN LATERAL (
        SELECT word, users FROM search.words WHERE chain_id = ${chainId} AND word % a.asked
        ORDER BY similarity(word, a.asked) DESC, word LIMIT ${SIMILAR}) AS near`
  })
