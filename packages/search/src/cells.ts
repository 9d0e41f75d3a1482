import { difference, reachOf, sketch, sketchLength } from './sketch.ts'
import { dot, lengthOf, quantize, type Vector } from './vector.ts'

/** Points around which vectors are grouped, so that a search looks at a few groups only. */
export interface Cells {
  dims: number
  /** How many vectors they were chosen for. */
  vectors: number
  points: readonly Vector[]
}

const VECTORS_A_CELL = 256
const SAMPLES_A_CELL = 32
const ROUNDS = 4
/** So many of the points that look nearest are measured. */
const MEASURED = 16

/** Points for these vectors, all of as many dimensions: k-means from an even choice among them. The same vectors in the same order give the same points. */
export function chooseCells(vectors: readonly Vector[]): Cells {
  const count = Math.max(1, Math.ceil(vectors.length / VECTORS_A_CELL))
  const samples = every(vectors, count * SAMPLES_A_CELL)
  let cells: Cells = { dims: vectors[0]?.length ?? 0, vectors: vectors.length, points: every(samples, count) }
  for (let round = 0; round < ROUNDS; round += 1)
    cells = { ...cells, points: middles(new Points(cells), samples) }
  return cells
}

/** At most so many, evenly from the whole. */
function every<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all]
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as T)
}

function middles(points: Points, samples: readonly Vector[]): Vector[] {
  const { dims, points: old } = points.cells
  const sums = old.map(() => new Float64Array(dims))
  const counts = old.map(() => 0)
  for (const vector of samples) {
    const length = lengthOf(vector)
    if (length === 0) continue
    const cell = points.nearest(vector)
    const sum = sums[cell] as Float64Array
    for (let i = 0; i < dims; i += 1) sum[i] = (sum[i] as number) + (vector[i] as number) / length
    counts[cell] = (counts[cell] as number) + 1
  }
  return old.map((point, i) => ((counts[i] as number) === 0 ? point : quantize(sums[i] as Float64Array)))
}

/** Cells, ready to be asked which are near. */
export class Points {
  readonly cells: Cells
  /** Where the vectors lie as a whole, in units of length. */
  readonly centre: Float64Array
  readonly #words: number
  readonly #sketches: Int32Array
  readonly #lengths: number[]
  readonly #asked: Int32Array
  readonly #looks: Uint16Array

  constructor(cells: Cells) {
    this.cells = cells
    this.#lengths = cells.points.map((point) => lengthOf(point) || 1)
    this.centre = new Float64Array(cells.dims)
    cells.points.forEach((point, c) => {
      for (let i = 0; i < cells.dims; i += 1)
        this.centre[i] =
          (this.centre[i] as number) +
          (point[i] as number) / (this.#lengths[c] as number) / cells.points.length
    })
    this.#words = sketchLength(cells.dims)
    this.#asked = new Int32Array(this.#words)
    this.#looks = new Uint16Array(cells.points.length)
    this.#sketches = new Int32Array(this.#words * cells.points.length)
    for (const [c, point] of cells.points.entries())
      sketch(point, this.centre, this.#sketches, c * this.#words)
  }

  /** The cell that a vector belongs to. */
  nearest(vector: Vector): number {
    const { points } = this.cells
    const reach = this.#look(vector, MEASURED)
    let nearest = 0
    let most = Number.NEGATIVE_INFINITY
    for (let c = 0; c < points.length; c += 1) {
      if ((this.#looks[c] as number) > reach) continue
      const cosine = this.#cosine(c, vector)
      if (cosine <= most) continue
      nearest = c
      most = cosine
    }
    return nearest
  }

  /** All cells, the nearest first; about so many of them by measure, the others by their looks. */
  *inOrder(vector: Vector, measured: number): Generator<number> {
    const looks = this.#looks
    const reach = this.#look(vector, measured)
    const all = this.cells.points.map((_, cell) => cell)
    const near = all.filter((cell) => (looks[cell] as number) <= reach)
    const measures = new Map(near.map((cell) => [cell, this.#cosine(cell, vector)]))
    const measureOf = (cell: number) => measures.get(cell) as number
    yield* near.sort((a, b) => measureOf(b) - measureOf(a) || a - b)
    const far = all.filter((cell) => (looks[cell] as number) > reach)
    yield* far.sort((a, b) => (looks[a] as number) - (looks[b] as number) || a - b)
  }

  /** Looks at all of them; returns how much those differ that are among about so many nearest. */
  #look(vector: Vector, most: number): number {
    const count = this.cells.points.length
    const words = this.#words
    sketch(vector, this.centre, this.#asked, 0)
    for (let c = 0; c < count; c += 1)
      this.#looks[c] = difference(this.#asked, 0, this.#sketches, c * words, words)
    return reachOf(this.#looks, count, most, this.cells.dims)
  }

  #cosine(cell: number, vector: Vector): number {
    return dot(this.cells.points[cell] as Vector, vector) / (this.#lengths[cell] as number)
  }
}

export function writeCells(cells: Cells): Buffer {
  const head = Buffer.alloc(8)
  head.writeUInt32BE(cells.dims, 0)
  head.writeUInt32BE(cells.vectors, 4)
  return Buffer.concat([
    head,
    ...cells.points.map((point) => Buffer.from(point.buffer, point.byteOffset, point.length)),
  ])
}

export function readCells(bytes: Uint8Array): Cells {
  const head = new DataView(bytes.buffer, bytes.byteOffset, 8)
  const dims = head.getUint32(0)
  const points: Vector[] = []
  for (let at = 8; dims > 0 && at + dims <= bytes.length; at += dims)
    points.push(new Int8Array(bytes.slice(at, at + dims)))
  return { dims, vectors: head.getUint32(4), points }
}
