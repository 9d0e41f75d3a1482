import { stemmer } from 'stemmer'

const WORD = /[\p{L}\p{N}]+/gu
const MARK = /\p{M}+/gu
const BEYOND_ASCII = /[^\0-\x7f]/
const LATIN = /^[a-z]+$/
const STEMS_KEPT = 200_000
const stems = new Map<string, string>()

/** Normalises a text for comparison: case, accents and compatibility forms are folded. */
export function fold(text: string): string {
  const plain = BEYOND_ASCII.test(text) ? text.normalize('NFKD').replace(MARK, '') : text
  return plain.toLowerCase()
}

export function wordsOf(text: string): string[] {
  return fold(text).match(WORD) ?? []
}

/** The Porter stem; words with other characters than a to z are unchanged. */
export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  if (!LATIN.test(word)) return word
  const stem = stemmer(word)
  // Clearing the whole cache bounds the memory and costs little: stems are computed again on demand.
  if (stems.size >= STEMS_KEPT) stems.clear()
  stems.set(kept(word), kept(stem))
  return stem
}

/** V8 represents a substring of at least this length as a pointer into the whole text. */
const POINTS_INTO = 13

/** Copies a word that is stored: a substring would keep the whole text in memory. */
export const kept = (word: string): string =>
  word.length < POINTS_INTO ? word : Buffer.from(word, 'utf16le').toString('utf16le')
