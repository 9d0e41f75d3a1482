import { Grouping } from './grouping.ts'
import { grown } from './numbers.ts'

/** The filter of a query. */
export interface Filter {
  /** The number of a category; 0 for any, −1 for one without products. */
  readonly category: number
  readonly ceiling: number
}

/** Passes every product. */
export const ANY: Filter = { category: 0, ceiling: Number.POSITIVE_INFINITY }

/** Assigns each product a slot (a small number) and keeps the fields that filters and ranking use. */
export class SlotTable {
  readonly keys: string[] = []
  #ranks = new Float64Array(1024)
  #costs = new Float64Array(1024)
  /** The number of the category; 0 when the slot is free. */
  #category = new Int32Array(1024)
  readonly #numbers = new Map<string, number>()
  #numbersSoFar = 0
  readonly #byCategory = new Grouping<string>()
  readonly #byCost = new Grouping<number>()
  readonly #free: number[] = []
  #next = 0

  add(key: string, category: string, rank: number, cost: number): number {
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
    this.update(slot, rank, cost)
    return slot
  }

  update(slot: number, rank: number, cost: number): void {
    this.#ranks[slot] = rank
    this.#costs[slot] = cost
    this.#byCost.put(slot, costClass(cost))
  }

  /** Frees the slot: no query finds the product any more. */
  remove(slot: number, category: string): void {
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

  /** A superset of the slots that pass the filter; undefined when it has more than `most`. */
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

/** Logarithmic classes, each about a fifth wide; a higher price is never in a lower class. */
const costClass = (cost: number): number =>
  Math.min(COST_CLASSES, Math.floor(4 * Math.log2(Math.max(cost, 0) + 1)))
