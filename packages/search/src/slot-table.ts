import { type Arrays, type Written, writtenTexts } from './arrays.ts'
import { Grouping } from './grouping.ts'
import { grown, Numbers } from './numbers.ts'
import { StringTable } from './string-table.ts'

/** A view, valid until the next change. */
export type Slots = Uint32Array

/** The filter of a query. */
export interface Filter {
  /** The number of a category; 0 for any, −1 for one without products. */
  readonly category: number
  readonly ceiling: number
}

/** Passes every product. */
export const ANY: Filter = { category: 0, ceiling: Number.POSITIVE_INFINITY }

const NOBODY = -1

/** Assigns each product a slot (a small number) and keeps the fields that filters and ranking use. */
export class SlotTable {
  readonly keys: string[] = []
  #ranks = new Float64Array(1024)
  #costs = new Float64Array(1024)
  /** The number of the category; 0 when the slot is free. */
  #category = new Int32Array(1024)
  /** The categories in use, by their number + 1. */
  readonly #categories = new StringTable()
  readonly #byCategory = new Grouping()
  readonly #byCost = new Grouping()
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
    const known = this.#categories.get(category)
    const number = known < 0 ? this.#categories.add(category) : known
    this.#category[slot] = number + 1
    this.#byCategory.put(slot, number)
    this.update(slot, rank, cost)
    return slot
  }

  update(slot: number, rank: number, cost: number): void {
    this.#ranks[slot] = rank
    this.#costs[slot] = cost
    this.#byCost.put(slot, costClass(cost))
  }

  /** Frees the slot: no query finds the product any more. */
  remove(slot: number): void {
    const number = (this.#category[slot] as number) - 1
    this.#category[slot] = 0
    this.#byCost.remove(slot)
    this.#byCategory.remove(slot)
    if (this.#byCategory.of(number).length === 0) this.#categories.remove(number)
    this.keys[slot] = ''
    this.#free.push(slot)
  }

  category(slot: number): string {
    return this.#categories.text((this.#category[slot] as number) - 1)
  }

  rank(slot: number): number {
    return this.#ranks[slot] as number
  }

  filter(category: string | undefined, ceiling: number | undefined): Filter {
    if (category === undefined && ceiling === undefined) return ANY
    return {
      category: category === undefined ? ANY.category : this.#categories.get(category) + 1 || NOBODY,
      ceiling: ceiling ?? ANY.ceiling,
    }
  }

  admits(slot: number, { category, ceiling }: Filter): boolean {
    const own = this.#category[slot] as number
    return own !== 0 && (category === 0 || own === category) && (this.#costs[slot] as number) <= ceiling
  }

  /** A superset of the slots that pass the filter; undefined when it has more than `most`. */
  among(category: string | undefined, ceiling: number | undefined, most: number): Slots | undefined {
    if (category !== undefined) {
      const slots = this.#byCategory.of(this.#categories.get(category))
      if (slots.length <= most) return slots
    }
    return ceiling === undefined ? undefined : this.#upTo(ceiling, most)
  }

  /** To be called after much has been added. */
  pack(): void {
    this.#byCategory.pack()
    this.#byCost.pack()
  }

  /** All slots are lower. */
  get end(): number {
    return this.#next
  }

  *written(): Written {
    const end = this.#next
    yield Uint32Array.of(end)
    yield Uint32Array.from(this.#free)
    yield* writtenTexts(this.keys)
    yield this.#ranks.subarray(0, end)
    yield this.#costs.subarray(0, end)
    yield this.#category.subarray(0, end)
    yield* this.#categories.written()
    yield* this.#byCategory.written(end)
    yield* this.#byCost.written(end)
  }

  async restore(arrays: Arrays): Promise<void> {
    ;[this.#next = 0] = await arrays.next(Uint32Array)
    for (const slot of await arrays.next(Uint32Array)) this.#free.push(slot)
    await arrays.texts((bytes, start, end) => this.keys.push(bytes.toString('utf8', start, end)))
    this.#ranks = await arrays.next(Float64Array, this.#ranks.length)
    this.#costs = await arrays.next(Float64Array, this.#costs.length)
    this.#category = await arrays.next(Int32Array, this.#category.length)
    await this.#categories.restore(arrays)
    await this.#byCategory.restore(arrays)
    await this.#byCost.restore(arrays)
  }

  #upTo(ceiling: number, most: number): Slots | undefined {
    const slots = new Numbers()
    for (let cost = 0; cost <= costClass(ceiling); cost += 1) {
      const dearer = this.#byCost.of(cost)
      if (slots.length + dearer.length > most) return undefined
      for (const slot of dearer) slots.push(slot)
    }
    return slots.view()
  }
}

const COST_CLASSES = 256

/** Logarithmic classes, each about a fifth wide; a higher price is never in a lower class. */
const costClass = (cost: number): number =>
  Math.min(COST_CLASSES, Math.floor(4 * Math.log2(Math.max(cost, 0) + 1)))
