import { difference, reachOf, type Sketch, sketch, sketchLength } from './sketch.ts'
import { cosine, dot, lengthOf, quantize, type Vector } from './vector.ts'

/** Centroids by which vectors are grouped (an inverted file index), so that a search reads only a few groups. */
export interface Cells {
  dims: number
  /** How many vectors they were chosen for. */
  vectors: number
  points: readonly Vector[]
}

const VECTORS_A_CELL = 256
const SAMPLES_A_CELL = 32
const ROUNDS = 4
/** How many of the nearest centroids by sketch are compared exactly. */
const MEASURED = 8

/** Chooses centroids by k-means, started from an even sample. Deterministic for the same vectors in the same order; all need equal dimensions. */
export function chooseCells(vectors: readonly Vector[]): Cells {
  const count = Math.max(1, Math.ceil(vectors.length / VECTORS_A_CELL))
  const samples = every(vectors, count * SAMPLES_A_CELL)
  let cells: Cells = { dims: vectors[0]?.length ?? 0, vectors: vectors.length, points: every(samples, count) }
  for (let round = 0; round < ROUNDS; round += 1)
    cells = { ...cells, points: middles(new Points(cells), samples) }
  return cells
}

/** An even sample of at most this many. */
function every<T>(all: readonly T[], most: number): T[] {
  if (all.length <= most) return [...all]
  return Array.from({ length: most }, (_, i) => all[Math.floor((i * all.length) / most)] as T)
}

function middles(points: Points, samples: readonly Vector[]): Vector[] {
  const { dims, points: old } = points.cells
  const sums = old.map(() => new Float64Array(dims))
  const counts = old.map(() => 0)
  const look = new Int32Array(sketchLength(dims))
  for (const vector of samples) {
    sketch(vector, lengthOf(vector), points.centre, look, 0)
    const cell = points.nearest(vector, look, 0)
    addTo(sums[cell] as Float64Array, vector)
    counts[cell] = (counts[cell] as number) + 1
  }
  return old.map((point, i) => ((counts[i] as number) === 0 ? point : quantize(sums[i] as Float64Array)))
}

/** A group of neighbouring cells. */
interface Region {
  middle: Vector
  cells: Int32Array
}

/** There are about as many regions as cells in each; with fewer cells than this there is one region. */
const FEW_CELLS = 64
const NEAR_REGIONS = 3

function regionsOf(points: readonly Vector[]): Region[] {
  const all = points.map((_, cell) => cell)
  let middles =
    points.length < FEW_CELLS ? every(points, 1) : every(points, Math.ceil(Math.sqrt(points.length)))
  let groups: number[][] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    groups = middles.map(() => [])
    for (const cell of all) groups[likest(middles, points[cell] as Vector)]?.push(cell)
    middles = middles.map((middle, i) => {
      const members = groups[i] as number[]
      const sum = new Float64Array(middle.length)
      for (const cell of members) addTo(sum, points[cell] as Vector)
      return members.length === 0 ? middle : quantize(sum)
    })
  }
  return middles.map((middle, i) => ({
    middle,
    cells: Int32Array.from(groups[i] as number[]),
  }))
}

function likest(points: readonly Vector[], vector: Vector): number {
  const likeness = points.map((point) => cosine(point, vector))
  return likeness.indexOf(Math.max(...likeness))
}

/** Adds the vector, normalised to length 1. */
function addTo(sum: Float64Array, vector: Vector): void {
  const length = lengthOf(vector) || 1
  for (let i = 0; i < sum.length; i += 1) sum[i] = (sum[i] as number) + (vector[i] as number) / length
}

/** Finds the cells nearest to a vector. */
export class Points {
  readonly cells: Cells
  /** The mean of the normalised centroids. */
  readonly centre: Float64Array
  readonly #words: number
  readonly #sketches: Int32Array
  readonly #lengths: number[]
  readonly #asked: Int32Array
  readonly #looks: Uint16Array
  readonly #near: Int32Array
  readonly #regions: Region[]
  /** Sketches of the regions. */
  readonly #middles: Int32Array

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
      sketch(point, this.#lengths[c] as number, this.centre, this.#sketches, c * this.#words)
    this.#near = new Int32Array(cells.points.length)
    this.#regions = regionsOf(cells.points)
    this.#middles = new Int32Array(this.#words * this.#regions.length)
    for (const [i, { middle }] of this.#regions.entries())
      sketch(middle, lengthOf(middle) || 1, this.centre, this.#middles, i * this.#words)
  }

  /** The cell of a vector: approximately the nearest, searched in the nearest regions. The sketch of the vector is at `offset`. */
  nearest(vector: Vector, sketches: Sketch, offset: number): number {
    const looks = this.#looks
    let count = 0
    for (const region of this.#nearRegions(sketches, offset)) {
      for (const cell of region) {
        this.#near[count] = cell
        looks[count] = difference(sketches, offset, this.#sketches, cell * this.#words, this.#words)
        count += 1
      }
    }
    const reach = reachOf(looks, count, MEASURED, this.cells.dims)
    let nearest = 0
    let most = Number.NEGATIVE_INFINITY
    for (let i = 0; i < count; i += 1) {
      if ((looks[i] as number) > reach) continue
      const cell = this.#near[i] as number
      const likeness = this.#cosine(cell, vector)
      if (likeness < most || (likeness === most && cell > nearest)) continue
      nearest = cell
      most = likeness
    }
    return nearest
  }

  /** Compares sketches only, because it runs for every vector. */
  #nearRegions(sketches: Sketch, offset: number): Int32Array[] {
    const words = this.#words
    const near: Int32Array[] = []
    const looks: number[] = []
    for (const [i, { cells }] of this.#regions.entries()) {
      const look = difference(sketches, offset, this.#middles, i * words, words)
      if (near.length === NEAR_REGIONS && look >= (looks[NEAR_REGIONS - 1] as number)) continue
      const at = looks.findLastIndex((other) => other <= look) + 1
      near.splice(at, 0, cells)
      looks.splice(at, 0, look)
      near.length = looks.length = Math.min(near.length, NEAR_REGIONS)
    }
    return near
  }

  /** All cells, nearest first: about the first `measured` ordered exactly, the others by sketch. */
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

  /** Compares all sketches; returns the largest difference among about the `most` nearest. */
  #look(vector: Vector, most: number): number {
    const count = this.cells.points.length
    const words = this.#words
    sketch(vector, lengthOf(vector), this.centre, this.#asked, 0)
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
