import { grown } from './numbers.ts'

/** The capacity of a shared array; a list longer than a sixteenth of it gets an array of its own. */
const ROOM = 2 ** 20
const LARGE = ROOM / 16
const SMALLEST = 1
/** A list that fills less than this share of its block moves to a smaller one. */
const LEAST_FILLED = 1 / 4
const NONE = new Uint32Array(0)

/**
 * Growing lists of numbers, packed into few arrays: most lists are short, and an object for each would take several times the memory and
 * miss the processor cache.
 */
export class Lists {
  /** The start of each list, as array × ROOM + offset, and its length. */
  #heads = new Uint32Array(1024)
  /** The size of the block of each list, as a power of two; 0 when it has none. */
  #sizes = new Uint8Array(512)
  readonly #arrays: Uint32Array[] = []
  /** Free blocks, by the power of two of their size. */
  readonly #free: number[][] = Array.from({ length: 32 }, () => [])
  #filling = 0
  #filled = ROOM

  length(list: number): number {
    return this.#heads[2 * list + 1] ?? 0
  }

  /** The array that holds a non-empty list, from `start` on. */
  array(list: number): Uint32Array {
    return this.#arrays[Math.floor((this.#heads[2 * list] as number) / ROOM)] as Uint32Array
  }

  start(list: number): number {
    return (this.#heads[2 * list] as number) % ROOM
  }

  /** A view of the list, valid until the list changes. */
  of(list: number): Uint32Array {
    if (this.length(list) === 0) return NONE
    const start = this.start(list)
    return this.array(list).subarray(start, start + this.length(list))
  }

  push(list: number, number: number): void {
    if (list >= this.#sizes.length) this.#makeHeads(list)
    const length = this.#heads[2 * list + 1] as number
    const size = this.#sizes[list] as number
    if (size === 0 || length === 2 ** size) this.#move(list, Math.max(SMALLEST, size + 1))
    this.array(list)[this.start(list) + length] = number
    this.#heads[2 * list + 1] = length + 1
  }

  put(list: number, numbers: Uint32Array): void {
    this.clear(list)
    if (list >= this.#sizes.length) this.#makeHeads(list)
    if (numbers.length === 0) return
    this.#move(list, Math.max(SMALLEST, Math.ceil(Math.log2(numbers.length))))
    this.array(list).set(numbers, this.start(list))
    this.#heads[2 * list + 1] = numbers.length
  }

  /** Removes a number that is in the list; the last one takes its place. */
  take(list: number, number: number): void {
    const start = this.start(list)
    const array = this.array(list)
    const length = this.length(list) - 1
    array[array.indexOf(number, start)] = array[start + length] as number
    this.#heads[2 * list + 1] = length
    const size = this.#sizes[list] as number
    if (length === 0) this.clear(list)
    else if (size > SMALLEST && length < LEAST_FILLED * 2 ** size) this.#move(list, size - 1)
  }

  clear(list: number): void {
    const size = this.#sizes[list] ?? 0
    if (size === 0) return
    this.#release(this.#heads[2 * list] as number, size)
    this.#sizes[list] = 0
    this.#heads[2 * list + 1] = 0
  }

  /** Moves a list to a block of another size. */
  #move(list: number, size: number): void {
    const old = this.#heads[2 * list] as number
    const oldSize = this.#sizes[list] as number
    const block = this.#free[size]?.pop() ?? this.#block(size)
    this.#heads[2 * list] = block
    this.#sizes[list] = size
    if (oldSize === 0) return
    const from = this.#arrays[Math.floor(old / ROOM)] as Uint32Array
    const start = old % ROOM
    this.array(list).set(from.subarray(start, start + this.length(list)), this.start(list))
    this.#release(old, oldSize)
  }

  #block(size: number): number {
    const length = 2 ** size
    if (length > LARGE) return ROOM * (this.#arrays.push(new Uint32Array(length)) - 1)
    if (this.#filled + length > ROOM) {
      this.#filling = this.#arrays.push(new Uint32Array(ROOM)) - 1
      this.#filled = 0
    }
    this.#filled += length
    return ROOM * this.#filling + this.#filled - length
  }

  #release(block: number, size: number): void {
    this.#free[size]?.push(block)
  }

  #makeHeads(list: number): void {
    this.#heads = grown(this.#heads, new Uint32Array(4 * list))
    this.#sizes = grown(this.#sizes, new Uint8Array(2 * list))
  }
}
