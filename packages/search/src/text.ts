import { stemmer } from 'stemmer'

const WORD = /[\p{L}\p{N}]+/gu
const MARK = /\p{M}+/gu
const BEYOND_ASCII = /[^\0-\x7f]/
const LATIN = /^[a-z]+$/
const STEMS_KEPT = 200_000
const stems = new Map<string, string>()

/** A text as it is compared: without case, accents and other ways to write the same. */
export function fold(text: string): string {
  const plain = BEYOND_ASCII.test(text) ? text.normalize('NFKD').replace(MARK, '') : text
  return plain.toLowerCase()
}

export function wordsOf(text: string): string[] {
  return fold(text).match(WORD) ?? []
}

/** Porter's stem; words that are not written in plain letters stay as they are. */
export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  if (!LATIN.test(word)) return word
  const stem = stemmer(word)
  // Forgetting all of them at once keeps the memory bounded and costs little: stems are made again as they come.
  if (stems.size >= STEMS_KEPT) stems.clear()
  stems.set(kept(word), kept(stem))
  return stem
}

/** V8 makes a longer part of a text by pointing into it. */
const POINTS_INTO = 13

/** For whoever keeps a word: a part of a text would keep the whole text in memory. */
export const kept = (word: string): string =>
  word.length < POINTS_INTO ? word : Buffer.from(word, 'utf16le').toString('utf16le')
