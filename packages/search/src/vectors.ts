import { Best } from './best.ts'
import { type Cells, Points } from './cells.ts'
import type { Shelf } from './shelf.ts'
import { difference, reachOf, sketch, sketchLength } from './sketch.ts'
import { dot, lengthOf, type Vector } from './vector.ts'

/** So many that a question admits are looked at, in the cells nearest to it. */
const LOOKED_AT = 4_000
/** So many of them, those that look nearest, are measured. */
const MEASURED = 200
const CELLS_MEASURED = 48

/** The vectors of the products, grouped. Vectors of as many dimensions are one kind; a question finds those of its own. */
export class Vectors {
  readonly #shelf: Shelf
  readonly #vectors: (Vector | undefined)[] = []
  readonly #lengths: number[] = []
  readonly #kinds = new Map<number, Groups>()

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  get(slot: number): Vector | undefined {
    return this.#vectors[slot]
  }

  set(slot: number, vector: Vector | undefined): void {
    const old = this.#vectors[slot]
    if (old !== undefined) this.#kinds.get(old.length)?.remove(slot)
    const length = vector === undefined ? 0 : lengthOf(vector)
    // A copy: the given one may be a view into something large.
    this.#vectors[slot] = vector === undefined || length === 0 ? undefined : new Int8Array(vector)
    this.#lengths[slot] = length
    if (vector !== undefined && length > 0) this.#kind(vector.length).add(slot, vector, length)
  }

  cosine(slot: number, vector: Vector, length: number): number {
    const own = this.#vectors[slot]
    return own === undefined || own.length !== vector.length || length === 0
      ? 0
      : dot(own, vector) / length / (this.#lengths[slot] as number)
  }

  useCells(cells: Cells | undefined): void {
    for (const dims of new Set([...this.#kinds.keys(), ...(cells === undefined ? [] : [cells.dims])])) {
      const groups = new Groups(dims, cells?.dims === dims ? cells : undefined)
      this.#vectors.forEach((vector, slot) => {
        if (vector?.length === dims) groups.add(slot, vector, this.#lengths[slot] as number)
      })
      this.#kinds.set(dims, groups)
    }
  }

  /** The nearest to a vector. */
  candidates(vector: Vector, admits: (slot: number) => boolean, most: number): Int32Array {
    const length = lengthOf(vector)
    const best = new Best(most, this.#shelf.keys)
    const groups = this.#kinds.get(vector.length)
    if (groups === undefined || length === 0) return best.slots()
    for (const slot of groups.near(vector, admits, Math.max(MEASURED, 2 * most)))
      best.offer(slot, this.cosine(slot, vector, length))
    return best.slots()
  }

  #kind(dims: number): Groups {
    const known = this.#kinds.get(dims)
    if (known !== undefined) return known
    const groups = new Groups(dims, undefined)
    this.#kinds.set(dims, groups)
    return groups
  }
}

/** Slots by the cell that their vectors lie in; without cells all are one group. */
class Groups {
  readonly #points: Points | undefined
  readonly #members: number[][]
  readonly #cell: number[] = []
  readonly #place: number[] = []
  readonly #words: number
  readonly #asked: Int32Array
  #seen = new Int32Array(1024)
  #looks = new Uint16Array(1024)
  #sketches = new Int32Array(1024)

  constructor(dims: number, cells: Cells | undefined) {
    this.#points = cells === undefined || cells.points.length === 0 ? undefined : new Points(cells)
    this.#members = Array.from({ length: this.#points?.cells.points.length ?? 1 }, () => [])
    this.#words = sketchLength(dims)
    this.#asked = new Int32Array(this.#words)
  }

  add(slot: number, vector: Vector, length: number): void {
    const at = slot * this.#words
    if (at + this.#words > this.#sketches.length) {
      const grown = new Int32Array(2 * (at + this.#words))
      grown.set(this.#sketches)
      this.#sketches = grown
    }
    sketch(vector, length, this.#points?.centre, this.#sketches, at)
    const cell = this.#points?.nearest(vector, this.#sketches, at) ?? 0
    const members = this.#members[cell] as number[]
    this.#cell[slot] = cell
    this.#place[slot] = members.length
    members.push(slot)
  }

  remove(slot: number): void {
    const members = this.#members[this.#cell[slot] as number] as number[]
    const last = members.pop() as number
    if (last === slot) return
    members[this.#place[slot] as number] = last
    this.#place[last] = this.#place[slot] as number
  }

  /** Those whose sketches differ least: at least so many where there are, and all that differ as much as the last. */
  near(vector: Vector, admits: (slot: number) => boolean, least: number): number[] {
    const words = this.#words
    sketch(vector, lengthOf(vector), this.#points?.centre, this.#asked, 0)
    let seen = 0
    for (const cell of this.#points?.inOrder(vector, CELLS_MEASURED) ?? [0]) {
      if (seen >= LOOKED_AT) break
      const members = this.#members[cell] as number[]
      if (seen + members.length > this.#seen.length) this.#makeRoom(seen + members.length)
      for (const slot of members) {
        if (!admits(slot)) continue
        this.#seen[seen] = slot
        this.#looks[seen] = difference(this.#asked, 0, this.#sketches, slot * words, words)
        seen += 1
      }
    }
    const reach = reachOf(this.#looks, seen, least, 32 * words)
    const near: number[] = []
    for (let i = 0; i < seen; i += 1)
      if ((this.#looks[i] as number) <= reach) near.push(this.#seen[i] as number)
    return near
  }

  #makeRoom(length: number): void {
    const seen = new Int32Array(2 * length)
    const looks = new Uint16Array(2 * length)
    seen.set(this.#seen)
    looks.set(this.#looks)
    this.#seen = seen
    this.#looks = looks
  }
}
