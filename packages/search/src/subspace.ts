/** A sparse matrix by rows: the entries of row r stand at `starts[r]` up to `starts[r + 1]`. */
export interface Sparse {
  rows: number
  columns: number
  starts: Uint32Array
  column: Uint32Array
  value: Float32Array
}

/** Rounds of subspace iteration; more change no ranking. */
const ROUNDS = 3
/** Added to the diagonal before a Cholesky decomposition, so that dependent columns do no harm. */
const RIDGE = 1e-7

/**
 * An orthonormal basis of the space of the largest singular values (the subspace of a truncated SVD), by subspace iteration: for each
 * column of the matrix a row of `dims` numbers. It is not rotated to the singular vectors: cosines are the same in every basis.
 * Deterministic: it starts from pseudo-random numbers of a fixed seed. `onRound` is called with the share that is done.
 */
export function dominantSubspace(
  matrix: Sparse,
  dims: number,
  onRound: (share: number) => void = () => {},
): Float32Array {
  let basis = pseudoRandom(matrix.columns * dims)
  for (let round = 1; round <= ROUNDS; round += 1) {
    basis = timesItsTranspose(matrix, basis, dims)
    orthonormalize(basis, matrix.columns, dims)
    onRound(round / ROUNDS)
  }
  return basis
}

/** Numbers between −1 and 1 (Mulberry32 with a fixed seed). */
function pseudoRandom(length: number): Float32Array {
  const numbers = new Float32Array(length)
  let state = 1
  for (let i = 0; i < length; i += 1) {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    numbers[i] = ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 31 - 1
  }
  return numbers
}

/** AᵀA × Q, with neither AᵀA nor A × Q in memory. */
function timesItsTranspose(
  { rows, starts, column, value }: Sparse,
  q: Float32Array,
  k: number,
): Float32Array {
  const product = new Float32Array(q.length)
  const row = new Float32Array(k)
  for (let r = 0; r < rows; r += 1) {
    const start = starts[r] as number
    const end = starts[r + 1] as number
    row.fill(0)
    let at = start
    // Four entries at once, because loads and stores limit the loop.
    for (; at + 3 < end; at += 4) {
      const a = (column[at] as number) * k
      const b = (column[at + 1] as number) * k
      const c = (column[at + 2] as number) * k
      const d = (column[at + 3] as number) * k
      const u = value[at] as number
      const v = value[at + 1] as number
      const w = value[at + 2] as number
      const x = value[at + 3] as number
      for (let j = 0; j < k; j += 1)
        row[j] =
          (row[j] as number) +
          u * (q[a + j] as number) +
          v * (q[b + j] as number) +
          w * (q[c + j] as number) +
          x * (q[d + j] as number)
    }
    for (; at < end; at += 1) addTimes(row, 0, value[at] as number, q, (column[at] as number) * k, k)
    for (at = start; at < end; at += 1)
      addTimes(product, (column[at] as number) * k, value[at] as number, row, 0, k)
  }
  return product
}

function addTimes(
  to: Float32Array,
  at: number,
  factor: number,
  from: Float32Array,
  start: number,
  k: number,
): void {
  for (let j = 0; j < k; j += 1) to[at + j] = (to[at + j] as number) + factor * (from[start + j] as number)
}

/** Makes the columns orthonormal: divides the matrix by the Cholesky factor of their inner products. */
function orthonormalize(matrix: Float32Array, rows: number, k: number): void {
  const factor = cholesky(innerProducts(matrix, rows, k), k)
  for (let r = 0; r < rows; r += 1) {
    const row = r * k
    for (let i = 0; i < k; i += 1) {
      const at = i * k
      let sum = matrix[row + i] as number
      for (let m = 0; m < i; m += 1) sum -= (factor[at + m] as number) * (matrix[row + m] as number)
      matrix[row + i] = sum / (factor[at + i] as number)
    }
  }
}

/** Of the columns, below the diagonal. */
function innerProducts(matrix: Float32Array, rows: number, k: number): Float64Array {
  const sums = new Float64Array(k * k)
  for (let r = 0; r < rows; r += 4) {
    // Rows beyond the last one count as zeros.
    const weight = [0, 1, 2, 3].map((i) => (r + i < rows ? 1 : 0))
    const [a, b, c, d] = weight.map((is, i) => (is ? (r + i) * k : 0)) as [number, number, number, number]
    for (let i = 0; i < k; i += 1) {
      const u = matrix[a + i] as number
      const v = (weight[1] as number) * (matrix[b + i] as number)
      const w = (weight[2] as number) * (matrix[c + i] as number)
      const x = (weight[3] as number) * (matrix[d + i] as number)
      const at = i * k
      for (let j = 0; j <= i; j += 1)
        sums[at + j] =
          (sums[at + j] as number) +
          u * (matrix[a + j] as number) +
          v * (matrix[b + j] as number) +
          w * (matrix[c + j] as number) +
          x * (matrix[d + j] as number)
    }
  }
  return sums
}

/** The lower triangular L with L × Lᵀ = A, in place of A. */
function cholesky(a: Float64Array, k: number): Float64Array {
  let trace = 0
  for (let i = 0; i < k; i += 1) trace += a[i * k + i] as number
  const ridge = (RIDGE * trace) / k || 1
  for (let i = 0; i < k; i += 1) {
    for (let j = 0; j <= i; j += 1) {
      let sum = (a[i * k + j] as number) + (i === j ? ridge : 0)
      for (let m = 0; m < j; m += 1) sum -= (a[i * k + m] as number) * (a[j * k + m] as number)
      a[i * k + j] = i === j ? Math.sqrt(Math.max(sum, ridge)) : sum / (a[j * k + j] as number)
    }
  }
  return a
}
