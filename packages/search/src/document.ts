import { termsOf } from './text.ts'

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

/** A term that is worth no more may be known from reviews alone. */
export const HEARSAY = EVIDENCE_MOST / (EVIDENCE_MOST + HALF)

/** What each term of a product is worth for a question about it, from 0 to 1: BM25F with fixed lengths, so that no product depends on others. */
export function impactsOf(fields: Fields): Map<string, number> {
  const weights = new Map<string, number>()
  for (const [text, { weight, usual }] of [
    [fields.name, NAME],
    [fields.category, CATEGORY],
    [fields.description, DESCRIPTION],
  ] as const) {
    const terms = termsOf(text)
    const each = weight / (1 - LENGTH_SHARE + LENGTH_SHARE * (terms.length / usual))
    for (const term of terms) weights.set(term, (weights.get(term) ?? 0) + each)
  }
  for (const [term, times] of countsOf(termsOf(fields.evidence))) {
    weights.set(term, (weights.get(term) ?? 0) + EVIDENCE_MOST * (times / (times + 1)))
  }
  for (const [term, weight] of weights) weights.set(term, weight / (weight + HALF))
  return weights
}

function countsOf(terms: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1)
  return counts
}
