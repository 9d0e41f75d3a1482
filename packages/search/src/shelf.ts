/** The place of each product, and what decides whether a question admits it. A place is a number, free again when nothing refers to it. */
export class Shelf {
  readonly keys: string[] = []
  #ranks = new Float64Array(1024)
  #costs = new Float64Array(1024)
  readonly #category: (string | undefined)[] = []
  /** Where a slot stands in the list of its category, for taking it out at once. */
  readonly #place: number[] = []
  readonly #categories = new Map<string, number[]>()
  readonly #free: number[] = []
  #next = 0

  take(key: string, category: string, rank: number, cost: number): number {
    const slot = this.#free.pop() ?? this.#next++
    if (slot >= this.#ranks.length) {
      this.#ranks = grown(this.#ranks)
      this.#costs = grown(this.#costs)
    }
    this.keys[slot] = key
    this.#category[slot] = category
    const others = this.#categories.get(category)
    this.#place[slot] = others?.length ?? 0
    if (others === undefined) this.#categories.set(category, [slot])
    else others.push(slot)
    this.value(slot, rank, cost)
    return slot
  }

  value(slot: number, rank: number, cost: number): void {
    this.#ranks[slot] = rank
    this.#costs[slot] = cost
  }

  /** No question finds it any more. The slot is not given to another before `free`. */
  close(slot: number): void {
    const category = this.#category[slot] as string
    const others = this.#categories.get(category) as number[]
    const last = others.pop() as number
    if (last !== slot) {
      others[this.#place[slot] as number] = last
      this.#place[last] = this.#place[slot] as number
    }
    if (others.length === 0) this.#categories.delete(category)
    this.#category[slot] = undefined
  }

  free(slot: number): void {
    this.#free.push(slot)
  }

  rank(slot: number): number {
    return this.#ranks[slot] as number
  }

  /** All of a category. */
  of(category: string): readonly number[] {
    return this.#categories.get(category) ?? []
  }

  has(slot: number): boolean {
    return this.#category[slot] !== undefined
  }

  admits(slot: number, category: string | undefined, ceiling: number | undefined): boolean {
    const own = this.#category[slot]
    if (own === undefined || (category !== undefined && own !== category)) return false
    return ceiling === undefined || (this.#costs[slot] as number) <= ceiling
  }
}

function grown(numbers: Float64Array<ArrayBuffer>): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * numbers.length)
  larger.set(numbers)
  return larger
}
