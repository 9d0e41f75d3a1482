/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** A whole number, both ends included. */
export function int(random: () => number, least: number, most: number): number {
  return least + Math.floor(random() * (most - least + 1))
}

export function pick<T>(random: () => number, from: readonly T[]): T {
  if (from.length === 0) throw new Error('pick needs at least one to pick from')
  return from[int(random, 0, from.length - 1)] as T
}

/** The seed of a run: `SEED` of the environment repeats an earlier one. */
export function seedOf(environment: Record<string, string | undefined> = process.env): number {
  const asked = environment.SEED
  if (asked === undefined || asked === '') return Math.floor(Math.random() * 2 ** 32)
  const seed = Number(asked)
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`SEED must be a whole number, not "${asked}"`)
  return seed
}
