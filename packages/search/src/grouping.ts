import type { Arrays, Written } from './arrays.ts'
import { Lists } from './lists.ts'
import { grown } from './numbers.ts'

/** Groups of slots, known by small numbers; each slot is in at most one group. */
export class Grouping {
  readonly #members = new Lists()
  /** The group of a slot + 1; 0 when it is in none. */
  #group = new Uint32Array(1024)
  /** The position of a slot in its group, for removal in constant time. */
  #place = new Uint32Array(1024)

  /** The slots of a group, unordered; a view that is valid until the next change. */
  of(group: number): Uint32Array {
    return this.#members.of(group)
  }

  has(slot: number): boolean {
    return (this.#group[slot] ?? 0) > 0
  }

  put(slot: number, group: number): void {
    if (this.#group[slot] === group + 1) return
    this.remove(slot)
    if (slot >= this.#group.length) {
      this.#group = grown(this.#group, new Uint32Array(2 * slot))
      this.#place = grown(this.#place, new Uint32Array(2 * slot))
    }
    this.#group[slot] = group + 1
    this.#place[slot] = this.#members.length(group)
    this.#members.push(group, slot)
  }

  remove(slot: number): void {
    if (!this.has(slot)) return
    const place = this.#place[slot] as number
    const last = this.#members.takeAt((this.#group[slot] as number) - 1, place)
    this.#group[slot] = 0
    this.#place[last] = place
  }

  pack(): void {
    this.#members.pack()
  }

  /** All slots are lower than `end`. */
  *written(end: number): Written {
    yield this.#group.subarray(0, end)
    yield this.#place.subarray(0, end)
    yield* this.#members.written()
  }

  async restore(arrays: Arrays): Promise<void> {
    this.#group = await arrays.next(Uint32Array, this.#group.length)
    this.#place = await arrays.next(Uint32Array, this.#place.length)
    await this.#members.restore(arrays)
  }
}
