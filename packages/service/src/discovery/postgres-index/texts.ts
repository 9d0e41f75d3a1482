import { setImmediate as turn } from 'node:timers/promises'
import type { Transaction } from '@referrer/database'
import { canBeMisspelt, type Product, Reader, stemOf, wordsOf } from '@referrer/search'
import { LONGEST_TERM } from './lists.ts'
import { Numbers } from './numbers.ts'

/** Texts are processed in slices of this length, so that requests are not blocked longer. */
const SLICE_MS = 5
const WORDS_KEPT = 1_000_000

/** What a text says, by the numbers of terms and words in the tables. */
export interface Text {
  worths: (readonly [term: number, worth: number])[]
  spelt: number[]
}

/** Reads texts. Words that were read before cost one look-up: a first load reads a hundred million of them. */
export class Texts {
  readonly terms = new Numbers('term')
  readonly #words = new Numbers('word')
  #known = new Known()

  async read(tx: Transaction, chainId: number, products: readonly Product[]): Promise<Text[]> {
    if (this.#known.size > WORDS_KEPT) this.#known = new Known()
    const known = this.#known
    const read: { uses: (readonly [term: number, worth: number])[]; spelt: string[] }[] = []
    let begun = performance.now()
    for (const product of products) {
      const uses: (readonly [number, number])[] = []
      const words = known.reader.read(product, (term, worth) => {
        if (worth > 0) uses.push([term, worth])
      })
      read.push({
        uses,
        spelt: Array.from(words, (word) => known.words[word] as string).filter(canBeMisspelt),
      })
      if (performance.now() - begun < SLICE_MS) continue
      await turn()
      begun = performance.now()
    }
    const numbers = await this.#numbersOf(
      tx,
      chainId,
      read.map(({ uses }) => uses),
    )
    const wordOf = await this.#words.of(
      tx,
      chainId,
      read.flatMap(({ spelt }) => spelt),
    )
    return read.map(({ uses, spelt }) => ({
      worths: uses.flatMap(([term, worth]) => {
        const number = numbers[term]
        return number === undefined || number === TOO_LONG ? [] : [[number, worth] as const]
      }),
      spelt: spelt.map(wordOf),
    }))
  }

  async #numbersOf(
    tx: Transaction,
    chainId: number,
    read: readonly (readonly (readonly [term: number, worth: number])[])[],
  ): Promise<readonly number[]> {
    const { stems } = this.#known
    const numbers = this.#known.numbersOf(chainId)
    const unknown = new Set<number>()
    for (const uses of read) for (const [term] of uses) if (numbers[term] === undefined) unknown.add(term)
    const short = [...unknown].filter((term) => (stems[term] as string).length <= LONGEST_TERM)
    const numberOf = await this.terms.of(
      tx,
      chainId,
      short.map((term) => stems[term] as string),
    )
    for (const term of unknown) numbers[term] = TOO_LONG
    for (const term of short) numbers[term] = numberOf(stems[term] as string)
    return numbers
  }
}

const TOO_LONG = -1

/** The words that were read, with numbers of this process for their terms. */
class Known {
  readonly words: string[] = []
  readonly stems: string[] = []
  readonly #ofStem = new Map<string, number>()
  readonly #ofWord = new Map<string, number>()
  /** By word, the number of its term. */
  readonly #terms: number[] = []
  /** By chain, the numbers of the terms in the tables. */
  readonly #numbers = new Map<number, number[]>()
  readonly reader = new Reader({
    read: (text, into) => {
      for (const word of wordsOf(text)) into.push(this.#ofWord.get(word) ?? this.#add(word))
    },
    termOf: (word) => this.#terms[word] as number,
  })

  get size(): number {
    return this.words.length
  }

  numbersOf(chainId: number): number[] {
    const numbers = this.#numbers.get(chainId) ?? []
    this.#numbers.set(chainId, numbers)
    return numbers
  }

  #add(word: string): number {
    const stem = stemOf(word)
    const term = this.#ofStem.get(stem) ?? this.stems.push(stem) - 1
    this.#ofStem.set(stem, term)
    const number = this.words.push(word) - 1
    this.#terms.push(term)
    this.#ofWord.set(word, number)
    return number
  }
}
