import type { Vector } from './vector.ts'

/** A binary quantisation: one bit per dimension says on which side of the centre the vector lies. Few differing bits mean near; sixteen times faster to compare. */
export type Sketch = Int32Array

export const sketchLength = (dims: number): number => (dims + 31) >> 5

/** The centre is of normalised vectors; undefined for the origin. */
export function sketch(
  vector: Vector,
  length: number,
  centre: Float64Array | undefined,
  into: Sketch,
  offset: number,
): void {
  for (let word = 0; word < sketchLength(vector.length); word += 1) {
    let bits = 0
    const end = Math.min(vector.length, 32 * word + 32)
    for (let i = 32 * word; i < end; i += 1)
      bits =
        (bits << 1) |
        ((vector[i] as number) > (centre === undefined ? 0 : (centre[i] as number) * length) ? 1 : 0)
    into[offset + word] = bits
  }
}

/** The Hamming distance. */
export function difference(a: Sketch, atA: number, b: Sketch, atB: number, words: number): number {
  let count = 0
  for (let i = 0; i < words; i += 1) {
    let x = (a[atA + i] as number) ^ (b[atB + i] as number)
    x -= (x >>> 1) & 0x55555555
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333)
    x = (x + (x >>> 4)) & 0x0f0f0f0f
    count += Math.imul(x, 0x01010101) >>> 24
  }
  return count
}

let counts = new Int32Array(0)

/** The smallest distance that includes at least `least` entries, if there are as many; entries of equal distance are kept together. */
export function reachOf(differences: Uint16Array, length: number, least: number, dims: number): number {
  if (counts.length <= dims) counts = new Int32Array(dims + 1)
  counts.fill(0, 0, dims + 1)
  for (let i = 0; i < length; i += 1)
    counts[differences[i] as number] = (counts[differences[i] as number] as number) + 1
  let reach = 0
  for (let within = counts[0] as number; within < least && reach < dims; within += counts[reach] as number)
    reach += 1
  return reach
}
