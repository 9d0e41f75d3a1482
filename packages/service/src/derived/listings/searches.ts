// Makes of what buyers searched for the words by which a product is found. Nobody watches searches: a buyer says it in
// its review.
import { searchedForIn } from '../../market/reviews/content.ts'
import { addSayer, mostSaid, type Sayers, wordsIn } from './words.ts'

/** Of a longer text only the first words count, so that nobody is found by everything. */
const MOST_WORDS_OF_OWNER = 12
const MOST_WORDS = 40

/** What a buyer searched for. */
export interface Search {
  owner: string
  words: readonly string[]
  /** Whether the owner has the standing that it needs; null: standings are off. */
  isTrusted: boolean | null
}

/** The words that a review says its author searched for, each once; none if it does not say it. */
export const searchedWords = (content: string): string[] =>
  [...new Set(wordsIn(searchedForIn(content)))].slice(0, MOST_WORDS_OF_OWNER)

/**
 * The words by which most owners searched, in alphabetical order, from their searches, newest first. Of an owner only
 * the newest counts. A word is repeated once for each owner, at most three times. While standings are off, a word of a
 * single owner does not count: wallets are free, and nothing is known of their owners.
 */
export function searchesOf(searches: readonly Search[]): string {
  const owners: Sayers = new Map()
  const vouched = new Set<string>()
  const heard = new Set<string>()
  for (const { owner, words, isTrusted } of searches) {
    if (isTrusted === false || heard.has(owner)) continue
    heard.add(owner)
    for (const word of words) {
      addSayer(owners, word, owner)
      if (isTrusted) vouched.add(word)
    }
  }
  const counted = [...owners].filter(([word, { size }]) => size > 1 || vouched.has(word))
  return mostSaid(new Map(counted), MOST_WORDS)
}
