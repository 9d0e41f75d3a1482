import { kept, stemOf } from './text.ts'

/** Where each step of what a term can be worth in a product starts, of 255: finer at the top, where names are. */
const STARTS = [0, 65, 128, 170, 200, 220, 232, 241] as const
export const STEPS = STARTS.length

const STEP_OF = Uint8Array.from({ length: 256 }, (_, worth) =>
  STARTS.findLastIndex((start) => start <= worth),
)

export const stepOf = (worth: number): number => STEP_OF[worth] as number

/** What the terms of a step are worth on average, from 0 to 1. */
export const WORTH_OF_STEP = STARTS.map((start, step) => (start + (STARTS[step + 1] ?? 256)) / 512)

/** A growing list of slots; some may be left over from products that changed. */
export class Slots {
  slots = new Int32Array(2)
  length = 0
  stale = 0

  push(slot: number): void {
    if (this.length === this.slots.length) {
      const grown = new Int32Array(2 * this.length)
      grown.set(this.slots)
      this.slots = grown
    }
    this.slots[this.length] = slot
    this.length += 1
  }
}

const WORDS_KNOWN = 200_000

export interface Term {
  /** −1: nobody uses it any more. */
  id: number
  text: string
  /** How many products use it themselves. */
  users: number
  /** Of how many only reviews use it. */
  heard: number
  /** Who uses it, by how much it is worth there. */
  steps: (Slots | undefined)[]
}

/** All terms in use. */
export class Terms {
  readonly #byText = new Map<string, Term>()
  readonly #byId: (Term | undefined)[] = []
  readonly #free: number[] = []
  /** Words that were met lately. */
  readonly #ofWord = new Map<string, Term>()

  /** The term of a word that somebody is about to use. */
  readonly ofWord = (word: string): Term => {
    const known = this.#ofWord.get(word)
    if (known !== undefined && known.id >= 0) return known
    const term = this.ensure(stemOf(word))
    if (this.#ofWord.size >= WORDS_KNOWN) this.#ofWord.clear()
    this.#ofWord.set(kept(word), term)
    return term
  }

  get(text: string): Term | undefined {
    return this.#byText.get(text)
  }

  at(id: number): Term {
    const term = this.#byId[id]
    if (term === undefined) throw new Error(`no term has the number ${id}`)
    return term
  }

  ensure(text: string): Term {
    const known = this.#byText.get(text)
    if (known !== undefined) return known
    const id = this.#free.pop() ?? this.#byId.length
    const term: Term = {
      id,
      text: kept(text),
      users: 0,
      heard: 0,
      steps: new Array<Slots | undefined>(STEPS).fill(undefined),
    }
    this.#byId[id] = term
    this.#byText.set(term.text, term)
    return term
  }

  forget(term: Term): void {
    this.#byText.delete(term.text)
    this.#byId[term.id] = undefined
    this.#free.push(term.id)
    term.id = -1
  }

  users(text: string): number {
    return this.#byText.get(text)?.users ?? 0
  }

  heard(text: string): number {
    return this.#byText.get(text)?.heard ?? 0
  }
}
