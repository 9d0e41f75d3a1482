import { readFileSync } from 'node:fs'
import { WordVectors } from './word-vectors.ts'

let known: WordVectors | undefined

/** The common English meaning of words, for a market that is too small to learn from. How they were made is in common-words.md. */
export function commonWords(): WordVectors {
  known ??= WordVectors.read(readFileSync(new URL('../common-words.bin', import.meta.url)))
  return known
}
