import { Grouping } from './grouping.ts'
import { grown } from './numbers.ts'

/** What a question admits. */
export interface Filter {
  /** The number of a category; 0: any, −1: one that nothing is of. */
  readonly category: number
  readonly ceiling: number
}

/** Whatever is there. */
export const ANY: Filter = { category: 0, ceiling: Number.POSITIVE_INFINITY }

/** The place of each product, and what decides whether a question admits it. A place is a number. */
export class Shelf {
  readonly keys: string[] = []
  #ranks = new Float64Array(1024)
  #costs = new Float64Array(1024)
  /** The number of its category; 0: it is closed. */
  #category = new Int32Array(1024)
  readonly #numbers = new Map<string, number>()
  #numbersSoFar = 0
  readonly #byCategory = new Grouping<string>()
  readonly #byCost = new Grouping<number>()
  readonly #free: number[] = []
  #next = 0

  take(key: string, category: string, rank: number, cost: number): number {
    const slot = this.#free.pop() ?? this.#next++
    if (slot >= this.#ranks.length) {
      this.#ranks = grown(this.#ranks, new Float64Array(2 * slot))
      this.#costs = grown(this.#costs, new Float64Array(2 * slot))
      this.#category = grown(this.#category, new Int32Array(2 * slot))
    }
    this.keys[slot] = key
    const number = this.#numbers.get(category) ?? ++this.#numbersSoFar
    this.#numbers.set(category, number)
    this.#category[slot] = number
    this.#byCategory.put(slot, category)
    this.value(slot, rank, cost)
    return slot
  }

  value(slot: number, rank: number, cost: number): void {
    this.#ranks[slot] = rank
    this.#costs[slot] = cost
    this.#byCost.put(slot, costClass(cost))
  }

  /** No question finds it any more, and the slot is free for another. */
  leave(slot: number, category: string): void {
    this.#category[slot] = 0
    this.#byCost.remove(slot)
    this.#byCategory.remove(slot)
    if (this.#byCategory.of(category).length === 0) this.#numbers.delete(category)
    this.#free.push(slot)
  }

  rank(slot: number): number {
    return this.#ranks[slot] as number
  }

  filter(category: string | undefined, ceiling: number | undefined): Filter {
    return {
      category: category === undefined ? ANY.category : (this.#numbers.get(category) ?? -1),
      ceiling: ceiling ?? ANY.ceiling,
    }
  }

  admits(slot: number, { category, ceiling }: Filter): boolean {
    const own = this.#category[slot] as number
    return own !== 0 && (category === 0 || own === category) && (this.#costs[slot] as number) <= ceiling
  }

  /** Slots among which is all that a question admits; undefined: there are more than so many. */
  among(
    category: string | undefined,
    ceiling: number | undefined,
    most: number,
  ): readonly number[] | undefined {
    if (category !== undefined) {
      const slots = this.#byCategory.of(category)
      if (slots.length <= most) return slots
    }
    return ceiling === undefined ? undefined : this.#upTo(ceiling, most)
  }

  #upTo(ceiling: number, most: number): number[] | undefined {
    const slots: number[] = []
    for (let cost = 0; cost <= costClass(ceiling); cost += 1) {
      const dearer = this.#byCost.of(cost)
      if (slots.length + dearer.length > most) return undefined
      for (const slot of dearer) slots.push(slot)
    }
    return slots
  }
}

const COST_CLASSES = 256

/** What costs more is in no lower class; a class reaches about a fifth up. */
const costClass = (cost: number): number =>
  Math.min(COST_CLASSES, Math.floor(4 * Math.log2(Math.max(cost, 0) + 1)))
