import { stemmer } from 'stemmer'

const WORD = /[\p{L}\p{N}]+/gu
const MARKS = /\p{M}+/gu
const STEMS_KEPT = 100_000
const stems = new Map<string, string>()

/** The words of a text as they are compared: without case, accents and endings. */
export function termsOf(text: string): string[] {
  return wordsOf(text).map(stemOf)
}

export function wordsOf(text: string): string[] {
  return text.normalize('NFKD').replace(MARKS, '').toLowerCase().match(WORD) ?? []
}

export function stemOf(word: string): string {
  const known = stems.get(word)
  if (known !== undefined) return known
  const stem = /^[a-z]+$/.test(word) ? stemmer(word) : word
  if (stems.size >= STEMS_KEPT) stems.clear()
  stems.set(word, stem)
  return stem
}
