import { grown } from './numbers.ts'
import { stemOf, wordsOf } from './text.ts'

export interface Fields {
  name: string
  category: string
  description: string
  evidence: string
}

/** The weight of each field and its reference length: in a longer text each word counts for less. */
const NAME = { weight: 2, usual: 10 }
const CATEGORY = { weight: 1.5, usual: 2 }
const DESCRIPTION = { weight: 0.5, usual: 60 }
/** The most weight of review text: enough to be found by, but always less than the description, however often a word is repeated. */
const EVIDENCE_MOST = 0.1
/** How much of the weight depends on the length of the text. */
const LENGTH_SHARE = 0.6
/** The weight at which a term reaches half of the highest score (saturation). */
const HALF = 0.3

/** The score of a term with this weight, 0 to 255. */
const worthOf = (weight: number): number => Math.round((255 * weight) / (weight + HALF))

/** The highest score of a term that occurs only in reviews. */
export const HEARSAY = worthOf(EVIDENCE_MOST)

export interface Document {
  /** The score of each term, 0 to 255. */
  worths: Map<string, number>
  /** The words of name, category and description. */
  words: Set<string>
}

export function documentOf(fields: Fields): Document {
  const stems: string[] = []
  const numbers = new Map<string, number>()
  const reader = new Reader((word) => {
    const stem = stemOf(word)
    const number = numbers.get(stem) ?? stems.push(stem) - 1
    numbers.set(stem, number)
    return number
  })
  const worths = new Map<string, number>()
  const words = reader.read(fields, (term, worth) => worths.set(stems[term] as string, worth))
  return { worths, words }
}

/** Scores the terms of a product by BM25F with fixed reference lengths, so that a score does not depend on other products. */
export class Reader {
  readonly #termOf: (word: string) => number
  /** By term, for the product that is being read. */
  #weights = new Float64Array(1024)
  #times = new Uint32Array(1024)

  /** `termOf` returns the number of the term (stem) of a word. */
  constructor(termOf: (word: string) => number) {
    this.#termOf = termOf
  }

  /** Calls `use` with each term and its score. Returns the words of name, category and description. */
  read(fields: Fields, use: (term: number, worth: number) => void): Set<string> {
    const own = new Set<string>()
    const terms: number[] = []
    for (const [text, { weight, usual }] of [
      [fields.name, NAME],
      [fields.category, CATEGORY],
      [fields.description, DESCRIPTION],
    ] as const) {
      const words = wordsOf(text)
      const each = weight / (1 - LENGTH_SHARE + LENGTH_SHARE * (words.length / usual))
      for (const word of words) {
        own.add(word)
        this.#add(this.#termOf(word), each, terms)
      }
    }
    for (const term of this.#heardIn(fields.evidence)) {
      const times = this.#times[term] as number
      this.#times[term] = 0
      this.#add(term, EVIDENCE_MOST * (times / (times + 1)), terms)
    }
    for (const term of terms) {
      const weight = this.#weights[term] as number
      this.#weights[term] = 0
      use(term, worthOf(weight))
    }
    return own
  }

  #add(term: number, weight: number, terms: number[]): void {
    this.#makeRoom(term)
    const before = this.#weights[term] as number
    if (before === 0) terms.push(term)
    this.#weights[term] = before + weight
  }

  /** The terms of the review text; their frequencies are in `#times`. */
  #heardIn(evidence: string): number[] {
    const heard: number[] = []
    let before = ''
    let term = 0
    for (const word of wordsOf(evidence)) {
      // Repeated words mostly stand next to each other, so the last term is reused.
      if (word !== before) term = this.#termOf(word)
      before = word
      this.#makeRoom(term)
      const times = this.#times[term] as number
      if (times === 0) heard.push(term)
      this.#times[term] = times + 1
    }
    return heard
  }

  #makeRoom(term: number): void {
    if (term < this.#weights.length) return
    this.#weights = grown(this.#weights, new Float64Array(2 * term))
    this.#times = grown(this.#times, new Uint32Array(2 * term))
  }
}
