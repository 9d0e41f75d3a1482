import { HEARSAY } from './document.ts'
import { kept, stemOf } from './text.ts'

/** The lower bounds of the score classes, of 255: finer at the top, where names are. The first class is for terms of reviews only. */
const STARTS = [0, HEARSAY + 1, 128, 170, 200, 220, 232, 241] as const
export const STEPS = STARTS.length
export const HEARD = 0

const STEP_OF = Uint8Array.from({ length: 256 }, (_, worth) =>
  STARTS.findLastIndex((start) => start <= worth),
)

export const stepOf = (worth: number): number => STEP_OF[worth] as number

/** The average score of each class, from 0 to 1. */
export const WORTH_OF_STEP = STARTS.map((start, step) => (start + (STARTS[step + 1] ?? 256)) / 512)

const WORDS_KNOWN = 200_000

/** All terms in use, each with a number. */
export class Terms {
  readonly #numbers = new Map<string, number>()
  readonly #texts: string[] = []
  readonly #free: number[] = []
  /** A cache of recent words. */
  readonly #ofWord = new Map<string, number>()

  get(text: string): number | undefined {
    return this.#numbers.get(text)
  }

  /** The term of a word; adds it when it is new. */
  readonly ofWord = (word: string): number => {
    const known = this.#ofWord.get(word)
    if (known !== undefined) return known
    const term = this.#ensure(stemOf(word))
    if (this.#ofWord.size >= WORDS_KNOWN) this.#ofWord.clear()
    this.#ofWord.set(kept(word), term)
    return term
  }

  /** Removes a term that no product uses. */
  forget(term: number): void {
    this.#numbers.delete(this.#texts[term] as string)
    this.#texts[term] = ''
    this.#free.push(term)
    // The number will be reused.
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
