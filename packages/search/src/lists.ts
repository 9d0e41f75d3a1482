import type { Arrays, Written } from './arrays.ts'
import { grown } from './numbers.ts'

/** The capacity of a shared array; a list longer than a sixteenth of it gets an array of its own. */
const ROOM_BITS = 20
const ROOM = 2 ** ROOM_BITS
const OFFSET = ROOM - 1
const LEAST_ROOM = 2 ** 10
const LARGE = ROOM / 16
const LENGTH_BITS = 24
const LENGTH = 2 ** LENGTH_BITS - 1
/** A list that fills less than this share of its block moves to a smaller one. */
const LEAST_FILLED = 1 / 4
const NONE = new Uint32Array(0)

/** Blocks have 1 to 16 places, then there are eight sizes for each power of two: 18, 20, …, 32, 36, … A list that fits wastes little. */
const ONE_BY_ONE = 16

/** The smallest size of block with so many places. */
function sizeFor(places: number): number {
  if (places <= ONE_BY_ONE) return places
  const power = 31 - Math.clz32(places - 1)
  return ONE_BY_ONE + 8 * (power - 4) + 1 + (((places - 1) >>> (power - 3)) & 7)
}

const PLACES = Float64Array.from({ length: sizeFor(LENGTH) + 1 }, (_, size) => {
  if (size <= ONE_BY_ONE) return size
  const [power, eighth] = [4 + ((size - ONE_BY_ONE - 1) >> 3), (size - ONE_BY_ONE - 1) & 7]
  return Math.min(LENGTH, 2 ** power * (1 + (eighth + 1) / 8))
})

/**
 * Growing lists of numbers, packed into few arrays: most lists are short, and an object for each would take several times the memory and
 * miss the processor cache.
 */
export class Lists {
  /** Two numbers for each list: where it begins, as array × ROOM + offset, and its length with the size of its block above (0: it has none). */
  #heads = new Uint32Array(1024)
  #arrays: Uint32Array[] = []
  /** Free blocks, by their size. */
  #free: number[][] = []
  #filling = 0
  #filled = LEAST_ROOM
  /** The length of the array that is being filled: the first ones are short, for those who have little. */
  #room = LEAST_ROOM
  /** How many times as large a block a full list gets: while everything is new, lists are still far from their length. */
  #growth = 2

  length(list: number): number {
    return (this.#heads[2 * list + 1] ?? 0) & LENGTH
  }

  /** The array that holds a non-empty list, from `start` on. */
  array(list: number): Uint32Array {
    return this.#arrays[(this.#heads[2 * list] as number) >>> ROOM_BITS] as Uint32Array
  }

  start(list: number): number {
    return (this.#heads[2 * list] as number) & OFFSET
  }

  /** A view of the list, valid until the list changes. */
  of(list: number): Uint32Array {
    if (this.length(list) === 0) return NONE
    const start = this.start(list)
    return this.array(list).subarray(start, start + this.length(list))
  }

  push(list: number, number: number): void {
    if (2 * list >= this.#heads.length) this.#makeHeads(list)
    const state = this.#heads[2 * list + 1] as number
    const length = state & LENGTH
    const places = PLACES[state >>> LENGTH_BITS] as number
    if (length === places) {
      if (length >= LENGTH) throw new RangeError(`a list is longer than ${LENGTH}`)
      this.#move(list, sizeFor(Math.min(LENGTH, Math.ceil(Math.max(1, this.#growth * places)))))
    }
    const head = this.#heads[2 * list] as number
    ;(this.#arrays[head >>> ROOM_BITS] as Uint32Array)[(head & OFFSET) + length] = number
    this.#heads[2 * list + 1] = (this.#heads[2 * list + 1] as number) + 1
  }

  put(list: number, numbers: Uint32Array): void {
    if (2 * list >= this.#heads.length) this.#makeHeads(list)
    const size = sizeFor(numbers.length)
    if (size !== this.#size(list)) {
      this.clear(list)
      if (size > 0) this.#move(list, size)
    }
    if (size > 0) this.array(list).set(numbers, this.start(list))
    this.#set(list, size, numbers.length)
  }

  /** Makes room in a list that has none, and fills it with zeros. */
  reserve(list: number, length: number): void {
    if (length === 0) return
    if (2 * list >= this.#heads.length) this.#makeHeads(list)
    this.#move(list, sizeFor(length))
    this.#set(list, sizeFor(length), length)
  }

  /** Removes a number that is in the list; the last one takes its place. */
  take(list: number, number: number): void {
    const start = this.start(list)
    this.takeAt(list, this.array(list).indexOf(number, start) - start)
  }

  /** Removes the number at this place; the last one takes its place. Returns that one. */
  takeAt(list: number, place: number): number {
    const start = this.start(list)
    const array = this.array(list)
    const length = this.length(list) - 1
    const last = array[start + length] as number
    array[start + place] = last
    const size = this.#size(list)
    this.#set(list, size, length)
    if (length === 0) this.clear(list)
    else if (length < LEAST_FILLED * (PLACES[size] as number)) this.#move(list, sizeFor(2 * length))
    return last
  }

  clear(list: number): void {
    if (2 * list >= this.#heads.length || this.#size(list) === 0) return
    this.#release(this.#heads[2 * list] as number, this.#size(list))
    this.#set(list, 0, 0)
  }

  /** Moves each list into a block that just fits, and gives the rest of the memory back. */
  pack(): void {
    const old = this.#arrays
    this.#arrays = []
    this.#free = []
    this.#filled = this.#room = LEAST_ROOM
    this.#growth = 1.25
    for (let list = 0; 2 * list < this.#heads.length; list += 1) {
      const length = this.length(list)
      if (length === 0) continue
      const [array, start] = [
        old[(this.#heads[2 * list] as number) >>> ROOM_BITS] as Uint32Array,
        this.start(list),
      ]
      const size = sizeFor(length)
      this.#set(list, size, length)
      this.#heads[2 * list] = this.#block(size)
      this.array(list).set(array.subarray(start, start + length), this.start(list))
    }
  }

  *written(): Written {
    yield Float64Array.of(this.#filling, this.#filled, this.#room, this.#growth, this.#arrays.length)
    let end = this.#heads.length
    while (end > 0 && this.#heads[end - 1] === 0) end -= 1
    yield this.#heads.subarray(0, end + (end & 1))
    yield Uint32Array.from(this.#free, (blocks) => blocks?.length ?? 0)
    for (const blocks of this.#free)
      if (blocks !== undefined && blocks.length > 0) yield Uint32Array.from(blocks)
    yield* this.#arrays
  }

  async restore(arrays: Arrays): Promise<void> {
    const state = await arrays.next(Float64Array)
    ;[this.#filling = 0, this.#filled = 0, this.#room = 0, this.#growth = 0] = state
    this.#heads = await arrays.next(Uint32Array, this.#heads.length)
    for (const [size, blocks] of (await arrays.next(Uint32Array)).entries())
      if (blocks > 0) this.#free[size] = Array.from(await arrays.next(Uint32Array))
    for (let left = state[4] as number; left > 0; left -= 1) this.#arrays.push(await arrays.next(Uint32Array))
  }

  #size(list: number): number {
    return (this.#heads[2 * list + 1] as number) >>> LENGTH_BITS
  }

  #set(list: number, size: number, length: number): void {
    this.#heads[2 * list + 1] = ((size << LENGTH_BITS) | length) >>> 0
  }

  /** Moves a list to a block of another size. */
  #move(list: number, size: number): void {
    const old = this.#heads[2 * list] as number
    const oldSize = this.#size(list)
    const block = this.#free[size]?.pop() ?? this.#block(size)
    this.#heads[2 * list] = block
    this.#set(list, size, this.length(list))
    if (oldSize === 0) return
    const from = this.#arrays[old >>> ROOM_BITS] as Uint32Array
    const start = old & OFFSET
    const [to, length] = [this.array(list), this.length(list)]
    // For a few numbers a call of the engine would cost more than the copying.
    if (length <= 32) for (let i = 0; i < length; i += 1) to[(block & OFFSET) + i] = from[start + i] as number
    else to.set(from.subarray(start, start + length), block & OFFSET)
    this.#release(old, oldSize)
  }

  #block(size: number): number {
    const length = PLACES[size] as number
    if (length > LARGE) return ROOM * (this.#arrays.push(new Uint32Array(length)) - 1)
    if (this.#filled + length > this.#room) {
      this.#room = Math.max(length, Math.min(ROOM, 2 * this.#room))
      this.#filling = this.#arrays.push(new Uint32Array(this.#room)) - 1
      this.#filled = 0
    }
    this.#filled += length
    return ROOM * this.#filling + this.#filled - length
  }

  #release(block: number, size: number): void {
    this.#free[size] ??= []
    this.#free[size].push(block)
  }

  #makeHeads(list: number): void {
    this.#heads = grown(this.#heads, new Uint32Array(4 * list))
  }
}
