/** Keeps the top k of many: a heap with the worst of the kept ones at its root. */
export class Best {
  readonly #scores: Float64Array
  readonly #slots: Int32Array
  readonly #keys: readonly string[]
  #size = 0

  /** Ties in the score are broken by the lower key. */
  constructor(most: number, keys: readonly string[]) {
    this.#scores = new Float64Array(most)
    this.#slots = new Int32Array(most)
    this.#keys = keys
  }

  offer(slot: number, score: number): void {
    if (this.#size < this.#slots.length) {
      this.#rise(this.#size, slot, score)
      this.#size += 1
    } else if (
      this.#size > 0 &&
      this.#isWorse(this.#slots[0] as number, this.#scores[0] as number, slot, score)
    ) {
      this.#sink(slot, score)
    }
  }

  /** Whether a slot with this score could be kept. */
  admits(score: number): boolean {
    return this.#size < this.#slots.length || score >= (this.#scores[0] as number)
  }

  /** The kept slots, unordered. */
  slots(): Int32Array {
    return this.#slots.subarray(0, this.#size)
  }

  /** The kept slots with their scores, best first. */
  inOrder(): { slot: number; score: number }[] {
    const kept = Array.from(this.slots(), (slot, i) => ({ slot, score: this.#scores[i] as number }))
    return kept.sort((a, b) => (this.#isWorse(a.slot, a.score, b.slot, b.score) ? 1 : -1))
  }

  #isWorse(slot: number, score: number, other: number, otherScore: number): boolean {
    return score === otherScore
      ? (this.#keys[slot] as string) > (this.#keys[other] as string)
      : score < otherScore
  }

  #rise(from: number, slot: number, score: number): void {
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!this.#isWorse(slot, score, this.#slots[above] as number, this.#scores[above] as number)) break
      this.#move(above, at)
      at = above
    }
    this.#set(at, slot, score)
  }

  #sink(slot: number, score: number): void {
    let at = 0
    for (;;) {
      let below = 2 * at + 1
      if (below >= this.#size) break
      if (
        below + 1 < this.#size &&
        this.#isWorse(
          this.#slots[below + 1] as number,
          this.#scores[below + 1] as number,
          this.#slots[below] as number,
          this.#scores[below] as number,
        )
      )
        below += 1
      if (!this.#isWorse(this.#slots[below] as number, this.#scores[below] as number, slot, score)) break
      this.#move(below, at)
      at = below
    }
    this.#set(at, slot, score)
  }

  #move(from: number, to: number): void {
    this.#set(to, this.#slots[from] as number, this.#scores[from] as number)
  }

  #set(at: number, slot: number, score: number): void {
    this.#slots[at] = slot
    this.#scores[at] = score
  }
}
