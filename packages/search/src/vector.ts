/** One signed byte per dimension; only the direction counts. */
export type Vector = Int8Array

/** Scales the numbers so that the largest becomes ±127. */
export function quantize(values: ArrayLike<number>): Vector {
  const vector = new Int8Array(values.length)
  let largest = 0
  for (let i = 0; i < values.length; i += 1) largest = Math.max(largest, Math.abs(values[i] as number))
  if (largest === 0 || !Number.isFinite(largest)) return vector
  for (let i = 0; i < values.length; i += 1) vector[i] = Math.round(((values[i] as number) / largest) * 127)
  return vector
}

/** The cosine similarity; 0 when one of them is zero or their dimensions differ. */
export function cosine(a: Vector, b: Vector): number {
  if (a.length !== b.length) return 0
  const lengths = lengthOf(a) * lengthOf(b)
  return lengths === 0 ? 0 : dot(a, b) / lengths
}

export const lengthOf = (vector: Vector): number => Math.sqrt(dot(vector, vector))

/** The dot product of vectors of equal dimensions. */
export const dot = (a: Vector, b: Vector): number => dotAt(a, 0, b)

/** The dot product with a vector that begins at this place. Four independent sums let the processor add in parallel. */
export function dotAt(all: Int8Array, at: number, vector: Vector): number {
  const end = vector.length & ~3
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < end; i += 4) {
    s0 = (s0 + Math.imul(all[at + i] as number, vector[i] as number)) | 0
    s1 = (s1 + Math.imul(all[at + i + 1] as number, vector[i + 1] as number)) | 0
    s2 = (s2 + Math.imul(all[at + i + 2] as number, vector[i + 2] as number)) | 0
    s3 = (s3 + Math.imul(all[at + i + 3] as number, vector[i + 3] as number)) | 0
  }
  for (let i = end; i < vector.length; i += 1) s0 += Math.imul(all[at + i] as number, vector[i] as number)
  return s0 + s1 + s2 + s3
}
