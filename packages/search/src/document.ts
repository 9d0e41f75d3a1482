import { grown, Numbers } from './numbers.ts'
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

/** Reads words, each known by a number. */
export interface WordReader {
  /** Appends the words of a text, in its order. */
  read(text: string, into: Numbers): void
  /** The number of the term (stem) of a word. */
  termOf(word: number): number
}

export function documentOf(fields: Fields): Document {
  const words = new Numbering()
  const stems = new Numbering()
  const reader = new Reader({
    read(text, into) {
      for (const word of wordsOf(text)) into.push(words.of(word))
    },
    termOf: (word) => stems.of(stemOf(words.all[word] as string)),
  })
  const worths = new Map<string, number>()
  const own = reader.read(fields, (term, worth) => worths.set(stems.all[term] as string, worth))
  return { worths, words: new Set(Array.from(own, (word) => words.all[word] as string)) }
}

class Numbering {
  readonly all: string[] = []
  readonly #numbers = new Map<string, number>()

  of(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    this.#numbers.set(text, this.all.length)
    return this.all.push(text) - 1
  }
}

/** Scores the terms of a product by BM25F with fixed reference lengths, so that a score does not depend on other products. */
export class Reader {
  readonly #words: WordReader
  readonly #read = new Numbers()
  readonly #terms = new Numbers()
  readonly #own = new Numbers()
  /** Two numbers for each term, of the product that is being read: its weight, and how often it is in the evidence. */
  #scores = new Float64Array(256)
  /** By word: the last reading in which it was in the own text. */
  #seenIn = new Float64Array(256)
  #readings = 0

  constructor(words: WordReader) {
    this.#words = words
  }

  /**
   * Calls `use` with each term and its score. Returns the words of name, category and description, each once; they are valid until the next
   * call.
   */
  read(fields: Fields, use: (term: number, worth: number) => void): Uint32Array {
    this.#readings += 1
    this.#terms.length = this.#own.length = 0
    this.#readOwn(fields.name, NAME)
    this.#readOwn(fields.category, CATEGORY)
    this.#readOwn(fields.description, DESCRIPTION)
    this.#readEvidence(fields.evidence)
    for (let i = 0; i < this.#terms.length; i += 1) {
      const term = this.#terms.array[i] as number
      const weight = this.#scores[2 * term] as number
      this.#scores[2 * term] = 0
      use(term, worthOf(weight))
    }
    return this.#own.view()
  }

  #readOwn(text: string, { weight, usual }: { weight: number; usual: number }): void {
    const words = this.#wordsOf(text)
    const each = weight / (1 - LENGTH_SHARE + LENGTH_SHARE * (words.length / usual))
    for (let i = 0; i < words.length; i += 1) {
      const word = words.array[i] as number
      if (word >= this.#seenIn.length) this.#seenIn = grown(this.#seenIn, new Float64Array(2 * word))
      if (this.#seenIn[word] !== this.#readings) {
        this.#seenIn[word] = this.#readings
        this.#own.push(word)
      }
      const term = this.#words.termOf(word)
      this.#makeRoom(term)
      this.#add(term, each)
    }
  }

  #readEvidence(evidence: string): void {
    const words = this.#wordsOf(evidence)
    // The terms replace their words, each once.
    let heard = 0
    for (let i = 0; i < words.length; i += 1) {
      const term = this.#words.termOf(words.array[i] as number)
      this.#makeRoom(term)
      const times = this.#scores[2 * term + 1] as number
      if (times === 0) {
        words.array[heard] = term
        heard += 1
      }
      this.#scores[2 * term + 1] = times + 1
    }
    for (let i = 0; i < heard; i += 1) {
      const term = words.array[i] as number
      const times = this.#scores[2 * term + 1] as number
      this.#scores[2 * term + 1] = 0
      this.#add(term, EVIDENCE_MOST * (times / (times + 1)))
    }
  }

  #wordsOf(text: string): Numbers {
    this.#read.length = 0
    this.#words.read(text, this.#read)
    return this.#read
  }

  #add(term: number, weight: number): void {
    const before = this.#scores[2 * term] as number
    if (before === 0) this.#terms.push(term)
    this.#scores[2 * term] = before + weight
  }

  #makeRoom(term: number): void {
    if (2 * term >= this.#scores.length) this.#scores = grown(this.#scores, new Float64Array(4 * term))
  }
}
