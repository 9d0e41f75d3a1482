import type { Arrays, Written } from './arrays.ts'
import { Best } from './best.ts'
import { type Cells, Points } from './cells.ts'
import { Grouping } from './grouping.ts'
import { grown } from './numbers.ts'
import { difference, reachOf, sketch, sketchLength } from './sketch.ts'
import { ANY, type Filter, type Slots, type SlotTable } from './slot-table.ts'
import { dot, dotAt, lengthOf, type Vector } from './vector.ts'

/** How many slots that pass the filter are compared by sketch, in the nearest cells. */
const LOOKED_AT = 2_000
/** How many slots are visited at most, when few pass the filter. */
const PASSED_BY = 30_000
/** How many of the nearest by sketch are compared exactly. */
const MEASURED = 100
const CELLS_MEASURED = 48

/** The embeddings of the products, grouped by cell, separately for each number of dimensions. */
export class Vectors {
  readonly #slotTable: SlotTable
  /** By slot: the dimensions of its vector; 0 when it has none. */
  #dims = new Uint32Array(1024)
  readonly #kinds = new Map<number, Groups>()

  constructor(slotTable: SlotTable) {
    this.#slotTable = slotTable
  }

  /** A view, valid until the next change. */
  get(slot: number): Vector | undefined {
    return this.#kinds.get(this.#dims[slot] ?? 0)?.get(slot)
  }

  set(slot: number, vector: Vector | undefined): void {
    const dims = vector === undefined || dot(vector, vector) === 0 ? 0 : vector.length
    if (slot >= this.#dims.length) {
      if (dims === 0) return
      this.#dims = grown(this.#dims, new Uint32Array(2 * slot))
    }
    const before = this.#dims[slot] as number
    if (before !== dims) this.#kinds.get(before)?.remove(slot)
    this.#dims[slot] = dims
    if (vector !== undefined && dims > 0) this.#kind(dims).add(slot, vector)
  }

  cosine(slot: number, vector: Vector, length: number): number {
    return this.#dims[slot] !== vector.length || length === 0
      ? 0
      : (this.#kinds.get(vector.length)?.cosine(slot, vector, length) ?? 0)
  }

  useCells(cells: Cells | undefined): void {
    for (const dims of new Set([...this.#kinds.keys(), ...(cells === undefined ? [] : [cells.dims])])) {
      const old = this.#kinds.get(dims)
      const groups = new Groups(this.#slotTable, dims, cells?.dims === dims ? cells : undefined)
      if (old !== undefined)
        this.#dims.forEach((own, slot) => {
          if (own === dims) groups.add(slot, old.get(slot))
        })
      this.#kinds.set(dims, groups)
    }
  }

  pack(): void {
    for (const groups of this.#kinds.values()) groups.pack()
  }

  /** Without the cells. */
  *written(): Written {
    yield this.#dims.subarray(0, this.#slotTable.end)
    yield Uint32Array.from(this.#kinds.keys())
    for (const groups of this.#kinds.values()) yield* groups.written()
  }

  /** To be called after the same cells have been set. */
  async restore(arrays: Arrays): Promise<void> {
    this.#dims = await arrays.next(Uint32Array, this.#dims.length)
    for (const dims of await arrays.next(Uint32Array)) await this.#kind(dims).restore(arrays)
  }

  /** The nearest slots to a vector, among all or among these. */
  candidates(vector: Vector, filter: Filter, most: number, among: Slots | undefined): Int32Array {
    const length = lengthOf(vector)
    const best = new Best(most, this.#slotTable.keys)
    const groups = this.#kinds.get(vector.length)
    if (groups === undefined || length === 0) return best.slots()
    for (const slot of groups.near(vector, filter, Math.max(MEASURED, 2 * most), among))
      best.offer(slot, groups.cosine(slot, vector, length))
    return best.slots()
  }

  #kind(dims: number): Groups {
    const known = this.#kinds.get(dims)
    if (known !== undefined) return known
    const groups = new Groups(this.#slotTable, dims, undefined)
    this.#kinds.set(dims, groups)
    return groups
  }
}

/** Vectors are stored in pieces of so many slots, so that nothing is copied when there are more. */
const PIECE_BITS = 12
const IN_PIECE = 2 ** PIECE_BITS - 1

/** The vectors of one number of dimensions, and their slots by cell; without cells there is one group. */
class Groups {
  readonly #slotTable: SlotTable
  readonly #dims: number
  readonly #pieces: Int8Array[] = []
  /** The squared length of each vector. */
  #squares = new Uint32Array(1024)
  readonly #points: Points | undefined
  readonly #cells = new Grouping()
  readonly #words: number
  readonly #asked: Int32Array
  #seen = new Int32Array(1024)
  #looks = new Uint16Array(1024)
  #count = 0
  #sketches = new Int32Array(1024)

  constructor(slotTable: SlotTable, dims: number, cells: Cells | undefined) {
    this.#slotTable = slotTable
    this.#dims = dims
    this.#points = cells === undefined || cells.points.length === 0 ? undefined : new Points(cells)
    this.#words = sketchLength(dims)
    this.#asked = new Int32Array(this.#words)
  }

  get(slot: number): Vector {
    const start = (slot & IN_PIECE) * this.#dims
    return this.#piece(slot).subarray(start, start + this.#dims)
  }

  cosine(slot: number, vector: Vector, length: number): number {
    const own = dotAt(this.#piece(slot), (slot & IN_PIECE) * this.#dims, vector)
    return own / length / Math.sqrt(this.#squares[slot] as number)
  }

  add(slot: number, vector: Vector): void {
    const piece = slot >>> PIECE_BITS
    this.#pieces[piece] ??= new Int8Array(this.#dims * (IN_PIECE + 1))
    this.#pieces[piece].set(vector, (slot & IN_PIECE) * this.#dims)
    if (slot >= this.#squares.length) this.#squares = grown(this.#squares, new Uint32Array(2 * slot))
    const square = dot(vector, vector)
    this.#squares[slot] = square
    const at = slot * this.#words
    const end = at + this.#words
    if (end > this.#sketches.length) this.#sketches = grown(this.#sketches, new Int32Array(2 * end))
    sketch(vector, Math.sqrt(square), this.#points?.centre, this.#sketches, at)
    this.#cells.put(slot, this.#points?.nearest(vector, this.#sketches, at) ?? 0)
  }

  remove(slot: number): void {
    this.#cells.remove(slot)
  }

  pack(): void {
    this.#cells.pack()
  }

  *written(): Written {
    const { end } = this.#slotTable
    yield Uint32Array.of(this.#pieces.length)
    // Where no slot of a piece has ever had a vector, there is none.
    for (const piece of this.#pieces) yield piece ?? new Int8Array(0)
    yield this.#squares.subarray(0, end)
    yield this.#sketches.subarray(0, end * this.#words)
    yield* this.#cells.written(end)
  }

  async restore(arrays: Arrays): Promise<void> {
    const [count = 0] = await arrays.next(Uint32Array)
    for (let at = 0; at < count; at += 1) {
      const piece = await arrays.next(Int8Array)
      if (piece.length > 0) this.#pieces[at] = piece
    }
    this.#squares = await arrays.next(Uint32Array, this.#squares.length)
    this.#sketches = await arrays.next(Int32Array, this.#sketches.length)
    await this.#cells.restore(arrays)
  }

  #piece(slot: number): Int8Array {
    return this.#pieces[slot >>> PIECE_BITS] as Int8Array
  }

  /** The nearest slots by sketch: at least `least` if there are as many, and all that tie with the last. */
  near(vector: Vector, filter: Filter, least: number, among: Slots | undefined): number[] {
    sketch(vector, lengthOf(vector), this.#points?.centre, this.#asked, 0)
    this.#count = 0
    if (among !== undefined)
      this.#look(
        among.filter((slot) => this.#cells.has(slot)),
        filter,
      )
    else this.#lookInCells(vector, filter)
    const reach = reachOf(this.#looks, this.#count, least, 32 * this.#words)
    const near: number[] = []
    for (let i = 0; i < this.#count; i += 1)
      if ((this.#looks[i] as number) <= reach) near.push(this.#seen[i] as number)
    return near
  }

  #lookInCells(vector: Vector, filter: Filter): void {
    let passed = 0
    for (const cell of this.#points?.inOrder(vector, CELLS_MEASURED) ?? [0]) {
      if (this.#count >= LOOKED_AT || passed >= PASSED_BY) break
      const members = this.#cells.of(cell)
      passed += members.length
      this.#look(members, filter)
    }
  }

  #look(slots: Slots, filter: Filter): void {
    if (this.#count + slots.length > this.#seen.length) this.#makeRoom(this.#count + slots.length)
    const words = this.#words
    for (const slot of slots) {
      // Cells hold nothing but products: without a filter there is nothing to look at.
      if (filter !== ANY && !this.#slotTable.admits(slot, filter)) continue
      this.#seen[this.#count] = slot
      this.#looks[this.#count] = difference(this.#asked, 0, this.#sketches, slot * words, words)
      this.#count += 1
    }
  }

  #makeRoom(length: number): void {
    this.#seen = grown(this.#seen, new Int32Array(2 * length))
    this.#looks = grown(this.#looks, new Uint16Array(2 * length))
  }
}
