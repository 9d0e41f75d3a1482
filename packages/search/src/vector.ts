/** One signed byte for each dimension; how long it is says nothing. */
export type Vector = Int8Array

/** Scales so that the largest number becomes ±127. */
export function quantize(values: ArrayLike<number>): Vector {
  const vector = new Int8Array(values.length)
  let largest = 0
  for (let i = 0; i < values.length; i += 1) largest = Math.max(largest, Math.abs(values[i] ?? 0))
  if (largest === 0 || !Number.isFinite(largest)) return vector
  for (let i = 0; i < values.length; i += 1) vector[i] = Math.round(((values[i] ?? 0) / largest) * 127)
  return vector
}

/** The cosine of the angle between two; 0 when one of them has no direction or they are not of one model. */
export function cosine(a: Vector, b: Vector): number {
  if (a.length !== b.length) return 0
  const lengths = Math.sqrt(dot(a, a) * dot(b, b))
  return lengths === 0 ? 0 : dot(a, b) / lengths
}

export function dot(a: Vector, b: Vector): number {
  let sum = 0
  for (let i = 0; i < a.length; i += 1) sum += (a[i] as number) * (b[i] as number)
  return sum
}
