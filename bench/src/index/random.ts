import type { Address, Hex } from 'viem'

/** The same seed gives the same numbers on every machine (mulberry32). */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A whole number from 0 to below `bound`. */
  below(bound: number): number {
    return Math.floor(this.share() * bound)
  }

  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** From 0 to below 1. */
  share(): number {
    return this.#next() / 0x1_0000_0000
  }

  chance(share: number): boolean {
    return this.share() < share
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  hash(): Hex {
    return this.#hex(8)
  }

  address(): Address {
    return this.#hex(5)
  }

  #hex(words: number): Hex {
    let text = '0x'
    for (let index = 0; index < words; index++) text += this.#next().toString(16).padStart(8, '0')
    return text as Hex
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}
