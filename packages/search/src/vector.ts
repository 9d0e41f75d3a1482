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

/** The dot product of vectors of equal dimensions. Four independent sums let the processor add in parallel. */
export function dot(a: Vector, b: Vector): number {
  const end = a.length & ~3
  let s0 = 0
  let s1 = 0
  let s2 = 0
  let s3 = 0
  for (let i = 0; i < end; i += 4) {
    s0 = (s0 + Math.imul(a[i] as number, b[i] as number)) | 0
    s1 = (s1 + Math.imul(a[i + 1] as number, b[i + 1] as number)) | 0
    s2 = (s2 + Math.imul(a[i + 2] as number, b[i + 2] as number)) | 0
    s3 = (s3 + Math.imul(a[i + 3] as number, b[i + 3] as number)) | 0
  }
  for (let i = end; i < a.length; i += 1) s0 += Math.imul(a[i] as number, b[i] as number)
  return s0 + s1 + s2 + s3
}
