import { expect, test } from 'vitest'
import { dominantSubspace, type Sparse } from './subspace.ts'

/** Rows of a dense matrix. */
function sparse(rows: readonly (readonly number[])[]): Sparse {
  const starts = [0]
  const column: number[] = []
  const value: number[] = []
  for (const row of rows) {
    row.forEach((entry, at) => {
      if (entry === 0) return
      column.push(at)
      value.push(entry)
    })
    starts.push(column.length)
  }
  return {
    rows: rows.length,
    columns: rows[0]?.length ?? 0,
    starts: Uint32Array.from(starts),
    column: Uint32Array.from(column),
    value: Float32Array.from(value),
  }
}

const dotOf = (basis: Float32Array, dims: number, a: number, b: number) => {
  let sum = 0
  for (let r = 0; r < basis.length / dims; r += 1)
    sum += (basis[r * dims + a] as number) * (basis[r * dims + b] as number)
  return sum
}

test('the basis is orthonormal and spans the directions with the largest singular values', () => {
  // Singular values 9, 8 and 1, in turned coordinates: the first two span columns 0 to 3, and nothing of column 4.
  const rows = [
    [9, 0, 0, 0, 0],
    [0, 4, 4, 4, 0],
    [0, 4, 4, 4, 0],
    [0, 0, 0, 0, 1],
  ]
  const basis = dominantSubspace(sparse(rows), 2)
  expect(basis).toHaveLength(10)
  for (const [a, b, wanted] of [
    [0, 0, 1],
    [1, 1, 1],
    [0, 1, 0],
  ] as const)
    expect(dotOf(basis, 2, a, b)).toBeCloseTo(wanted, 4)
  const lengths = [0, 1, 2, 3, 4].map((r) => Math.hypot(basis[2 * r] as number, basis[2 * r + 1] as number))
  const third = 1 / Math.sqrt(3)
  for (const [r, wanted] of [1, third, third, third, 0].entries()) expect(lengths[r]).toBeCloseTo(wanted, 2)
})

test('the same matrix gives the same numbers', () => {
  const rows = Array.from({ length: 30 }, (_, r) => Array.from({ length: 12 }, (_, c) => (r * c) % 5))
  expect(dominantSubspace(sparse(rows), 4)).toEqual(dominantSubspace(sparse(rows), 4))
})

test('fewer independent columns than dimensions, and an empty matrix, give numbers all the same', () => {
  const same = Array.from({ length: 6 }, () => [1, 1, 1, 0])
  expect([...dominantSubspace(sparse(same), 3)].every(Number.isFinite)).toBe(true)
  expect([...dominantSubspace(sparse([[0, 0]]), 2)].every(Number.isFinite)).toBe(true)
  expect(dominantSubspace(sparse([]), 0)).toHaveLength(0)
})
