import { stemOf, wordsOf } from './text.ts'

export interface Fields {
  name: string
  category: string
  description: string
  evidence: string
}

/** How much a word counts by where it stands, and how many words are usual there: in a longer text each counts for less. */
const NAME = { weight: 2, usual: 10 }
const CATEGORY = { weight: 1.5, usual: 2 }
const DESCRIPTION = { weight: 0.5, usual: 60 }
/** What strangers say: enough to be found by, and never as much as a description, however often they say it. */
const EVIDENCE_MOST = 0.1
/** How much of the weight depends on the length of the text. */
const LENGTH_SHARE = 0.6
/** The weight that is worth half of what can be had. */
const HALF = 0.3

/** What is kept of what a term is worth: one byte. */
export const worthOf = (impact: number): number => Math.round(impact * 255)

const HEARSAY = worthOf(EVIDENCE_MOST / (EVIDENCE_MOST + HALF))

/** Worth so little, a term may be known from reviews alone. */
export const isHearsay = (worth: number): boolean => worth <= HEARSAY

export interface Document<Term = string> {
  /** What each term is worth for a question about it, from 0 to 1. */
  impacts: Map<Term, number>
  /** The words that the product uses itself. */
  words: Set<string>
}

/** A product as words: BM25F with fixed usual lengths, so that what a term is worth in one product does not depend on the others. */
export const documentOf = (fields: Fields): Document => documentIn(fields, stemOf)

/** With terms of another kind: one for each stem. */
export function documentIn<Term>(fields: Fields, termOf: (word: string) => Term): Document<Term> {
  const own = new Set<string>()
  const weights = new Map<Term, number>()
  for (const [text, { weight, usual }] of [
    [fields.name, NAME],
    [fields.category, CATEGORY],
    [fields.description, DESCRIPTION],
  ] as const) {
    const words = wordsOf(text)
    const each = weight / (1 - LENGTH_SHARE + LENGTH_SHARE * (words.length / usual))
    for (const word of words) {
      const term = termOf(word)
      own.add(word)
      weights.set(term, (weights.get(term) ?? 0) + each)
    }
  }
  for (const [term, times] of heardIn(fields.evidence, termOf))
    weights.set(term, (weights.get(term) ?? 0) + EVIDENCE_MOST * (times / (times + 1)))
  for (const [term, weight] of weights) weights.set(term, weight / (weight + HALF))
  return { impacts: weights, words: own }
}

/** How often each term is said. */
function heardIn<Term>(evidence: string, termOf: (word: string) => Term): Map<Term, number> {
  const words = new Map<string, number>()
  for (const word of wordsOf(evidence)) words.set(word, (words.get(word) ?? 0) + 1)
  const terms = new Map<Term, number>()
  for (const [word, times] of words) {
    const term = termOf(word)
    terms.set(term, (terms.get(term) ?? 0) + times)
  }
  return terms
}
