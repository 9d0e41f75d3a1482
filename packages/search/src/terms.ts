/** So many steps from the least to the most that a term can be worth in a product. */
export const STEPS = 8

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

export interface Term {
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
      text,
      users: 0,
      heard: 0,
      steps: new Array<Slots | undefined>(STEPS).fill(undefined),
    }
    this.#byId[id] = term
    this.#byText.set(text, term)
    return term
  }

  forget(term: Term): void {
    this.#byText.delete(term.text)
    this.#byId[term.id] = undefined
    this.#free.push(term.id)
  }

  users(text: string): number {
    return this.#byText.get(text)?.users ?? 0
  }

  heard(text: string): number {
    return this.#byText.get(text)?.heard ?? 0
  }
}
