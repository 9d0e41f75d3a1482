// Vectors as a model would make them of such texts: what belongs together lies together.
import { createHash } from 'node:crypto'
import { Random } from '../index/random.ts'

/** About as many as the model has that is learned from a market's own words. */
export const DIMS = 200
/** Within a theme there are kinds, and within a kind everything differs a little. */
export const KINDS = 20
const KIND_SPREAD = 0.8
const OWN_SPREAD = 0.7
/** Drawing every number of 200,000 vectors would take longer than all else: each vector adds two slices of one pool of numbers. */
const POOL = 2 ** 18

export class Space {
  readonly #pool: Float32Array

  constructor() {
    const random = new Random(3)
    this.#pool = Float32Array.from({ length: POOL + DIMS }, () => random.below(2_001) / 1_000 - 1)
  }

  /** Somewhere in a kind of a theme; the same seed, the same place. */
  near(theme: number, kind: number, seed: number): Int8Array {
    const random = new Random(seed)
    return this.#sum([
      [this.#place(theme, 1), 1],
      [this.#place(theme * KINDS + kind, 2), KIND_SPREAD],
      [random.below(POOL), OWN_SPREAD],
      [random.below(POOL), OWN_SPREAD],
    ])
  }

  /** Where a text lies of which nothing else is known. */
  of(text: string): Int8Array {
    const digest = createHash('sha256').update(text).digest()
    return this.#sum([
      [digest.readUInt32LE(0) % POOL, 1],
      [digest.readUInt32LE(4) % POOL, 1],
    ])
  }

  #place(of: number, salt: number): number {
    return new Random(of * 3 + salt).below(POOL)
  }

  /** Of weighted stretches, one signed byte for each dimension. */
  #sum(parts: readonly (readonly [stretch: number, weight: number])[]): Int8Array {
    const values = new Float32Array(DIMS)
    for (const [stretch, weight] of parts)
      for (let at = 0; at < DIMS; at += 1)
        values[at] = (values[at] ?? 0) + weight * (this.#pool[stretch + at] ?? 0)
    let largest = 0
    for (let at = 0; at < DIMS; at += 1) largest = Math.max(largest, Math.abs(values[at] ?? 0))
    const bytes = new Int8Array(DIMS)
    for (let at = 0; at < DIMS; at += 1) bytes[at] = Math.round(((values[at] ?? 0) / largest) * 127)
    return bytes
  }
}
