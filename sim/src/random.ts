/** A pseudo-random generator (mulberry32): the same seed gives the same numbers on every machine. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A number from 0 to below 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }

  /** An integer from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.share() * bound)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  chance(share: number): boolean {
    return this.share() < share
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** A random selection, each item at most once, in random order. */
  some<T>(items: readonly T[], count: number): T[] {
    if (items.length <= count) return [...items]
    const chosen = new Set<number>()
    while (chosen.size < count) chosen.add(this.below(items.length))
    return [...chosen].flatMap((index) => items.slice(index, index + 1))
  }
}
