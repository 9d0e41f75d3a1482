import { HEARSAY } from './document.ts'
import { kept, stemOf } from './text.ts'

/** Where each step of what a term can be worth in a product starts, of 255: finer at the top, where names are. The first is hearsay. */
const STARTS = [0, HEARSAY + 1, 128, 170, 200, 220, 232, 241] as const
export const STEPS = STARTS.length
export const HEARD = 0

const STEP_OF = Uint8Array.from({ length: 256 }, (_, worth) =>
  STARTS.findLastIndex((start) => start <= worth),
)

export const stepOf = (worth: number): number => STEP_OF[worth] as number

/** What the terms of a step are worth on average, from 0 to 1. */
export const WORTH_OF_STEP = STARTS.map((start, step) => (start + (STARTS[step + 1] ?? 256)) / 512)

const WORDS_KNOWN = 200_000

/** All terms in use, each with a number. */
export class Terms {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []
  readonly #free: number[] = []
  /** Of words that were met lately. */
  readonly #ofWord = new Map<string, number>()

  get(text: string): number | undefined {
    return this.#numbers.get(text)
  }

  /** The term of a word that somebody is about to use. */
  readonly ofWord = (word: string): number => {
    const known = this.#ofWord.get(word)
    if (known !== undefined) return known
    const term = this.#ensure(stemOf(word))
    if (this.#ofWord.size >= WORDS_KNOWN) this.#ofWord.clear()
    this.#ofWord.set(kept(word), term)
    return term
  }

  /** Nobody uses it any more. */
  forget(term: number): void {
    this.#numbers.delete(this.#texts[term] as string)
    this.#texts[term] = ''
    this.#free.push(term)
    // Its number will be another's.
    this.#ofWord.clear()
  }

  #ensure(text: string): number {
    const known = this.#numbers.get(text)
    if (known !== undefined) return known
    const term = this.#free.pop() ?? this.#texts.length
    const own = kept(text)
    this.#texts[term] = own
    this.#numbers.set(own, term)
    return term
  }
}
