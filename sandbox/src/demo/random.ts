/** Numbers that are the same for everybody who starts with the same seed. */
export interface Random {
  /** From 0 up to 1. */
  next(): number
  /** Both ends included. */
  whole(from: number, to: number): number
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
}

/** By mulberry32. */
export function randomOf(seed: number): Random {
  let state = seed
  const random: Random = {
    next() {
      state = (state + 0x6d2b79f5) | 0
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
    },
    whole: (from, to) => from + Math.floor(random.next() * (to - from + 1)),
    chance: (share) => random.next() < share,
    pick<T>(from: readonly T[]): T {
      if (from.length === 0) throw new Error('there is nothing to pick from')
      return from[random.whole(0, from.length - 1)] as T
    },
  }
  return random
}
