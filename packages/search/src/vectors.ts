import { Best } from './best.ts'
import { type Cells, Points } from './cells.ts'
import { Grouping } from './grouping.ts'
import { grown } from './numbers.ts'
import { difference, reachOf, sketch, sketchLength } from './sketch.ts'
import type { Filter, SlotTable } from './slot-table.ts'
import { dot, lengthOf, type Vector } from './vector.ts'

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
  readonly #vectors: (Vector | undefined)[] = []
  readonly #lengths: number[] = []
  readonly #kinds = new Map<number, Groups>()

  constructor(slotTable: SlotTable) {
    this.#slotTable = slotTable
  }

  get(slot: number): Vector | undefined {
    return this.#vectors[slot]
  }

  set(slot: number, vector: Vector | undefined): void {
    const old = this.#vectors[slot]
    if (old !== undefined) this.#kinds.get(old.length)?.remove(slot)
    const length = vector === undefined ? 0 : lengthOf(vector)
    // Copied, because the argument may be a view into a large buffer.
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
      const groups = new Groups(this.#slotTable, dims, cells?.dims === dims ? cells : undefined)
      this.#vectors.forEach((vector, slot) => {
        if (vector?.length === dims) groups.add(slot, vector, this.#lengths[slot] as number)
      })
      this.#kinds.set(dims, groups)
    }
  }

  /** The nearest slots to a vector, among all or among these. */
  candidates(vector: Vector, filter: Filter, most: number, among: readonly number[] | undefined): Int32Array {
    const length = lengthOf(vector)
    const best = new Best(most, this.#slotTable.keys)
    const groups = this.#kinds.get(vector.length)
    if (groups === undefined || length === 0) return best.slots()
    for (const slot of groups.near(vector, filter, Math.max(MEASURED, 2 * most), among))
      best.offer(slot, this.cosine(slot, vector, length))
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

/** Slots by the cell of their vectors; without cells there is one group. */
class Groups {
  readonly #slotTable: SlotTable
  readonly #points: Points | undefined
  readonly #cells = new Grouping<number>()
  readonly #words: number
  readonly #asked: Int32Array
  #seen = new Int32Array(1024)
  #looks = new Uint16Array(1024)
  #count = 0
  #sketches = new Int32Array(1024)

  constructor(slotTable: SlotTable, dims: number, cells: Cells | undefined) {
    this.#slotTable = slotTable
    this.#points = cells === undefined || cells.points.length === 0 ? undefined : new Points(cells)
    this.#words = sketchLength(dims)
    this.#asked = new Int32Array(this.#words)
  }

  add(slot: number, vector: Vector, length: number): void {
    const at = slot * this.#words
    const end = at + this.#words
    if (end > this.#sketches.length) this.#sketches = grown(this.#sketches, new Int32Array(2 * end))
    sketch(vector, length, this.#points?.centre, this.#sketches, at)
    this.#cells.put(slot, this.#points?.nearest(vector, this.#sketches, at) ?? 0)
  }

  remove(slot: number): void {
    this.#cells.remove(slot)
  }

  /** The nearest slots by sketch: at least `least` if there are as many, and all that tie with the last. */
  near(vector: Vector, filter: Filter, least: number, among: readonly number[] | undefined): number[] {
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

  #look(slots: readonly number[], filter: Filter): void {
    if (this.#count + slots.length > this.#seen.length) this.#makeRoom(this.#count + slots.length)
    const words = this.#words
    for (const slot of slots) {
      if (!this.#slotTable.admits(slot, filter)) continue
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
