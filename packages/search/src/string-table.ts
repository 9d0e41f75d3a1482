import { type Arrays, type Written, writtenTexts } from './arrays.ts'
import { grown } from './numbers.ts'
import { kept } from './text.ts'

/** Differs in every process: nobody can choose words that all fall into one place of the table. */
export const HASH_SEED = Math.floor(Math.random() * 2 ** 32) | 0

/** The hash of one more byte (FNV-1a). */
export const hashed = (hash: number, byte: number): number => Math.imul(hash ^ byte, 0x01000193)

/** After the last byte. The low bits choose the place in the table: they have to depend on all the others. */
export function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return once ^ (once >>> 13)
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = HASH_SEED
  for (let at = start; at < end; at += 1) hash = hashed(hash, bytes[at] as number)
  return mixed(hash)
}

const encoder = new TextEncoder()
/** UTF-8 has at most three bytes for a code unit. */
const MOST_BYTES = 3

/** A text as UTF-8, in an array that is used again for the next text. */
export class Utf8 {
  bytes = new Uint8Array(2 ** 12)
  length = 0

  set(text: string): this {
    if (MOST_BYTES * text.length > this.bytes.length)
      this.bytes = new Uint8Array(2 * MOST_BYTES * text.length)
    this.length = encoder.encodeInto(text, this.bytes).written
    return this
  }
}

const own = new Utf8()
const bytesOf = (text: string): Utf8 => own.set(text)

/** A place of the table: hash, number + 1 (0 where nothing is), where the bytes begin and end. */
const FIELDS = 4
const NUMBER = 1
const START = 2
const END = 3

/** Strings with numbers, from 0 on. A word in a text is found without making a string of it. */
export class StringTable {
  readonly #texts: string[] = []
  /** Open addressing with linear probing, at most half full. */
  #places = new Int32Array(FIELDS * 1024)
  #mask = 1023
  #bytes = new Uint8Array(2 ** 14)
  #filled = 0
  /** Bytes of strings that were removed. */
  #unused = 0
  readonly #free: number[] = []

  /** The string with this number. */
  text(number: number): string {
    return this.#texts[number] as string
  }

  /** All numbers are lower. */
  get end(): number {
    return this.#texts.length
  }

  numbers(): number[] {
    const free = new Set(this.#free)
    return Array.from(this.#texts.keys()).filter((number) => !free.has(number))
  }

  /** −1 if it is not there. */
  get(text: string): number {
    const utf8 = bytesOf(text)
    return this.find(utf8.bytes, 0, utf8.length, hashOf(utf8.bytes, 0, utf8.length))
  }

  /** The same for UTF-8 whose hash is known. */
  find(bytes: Uint8Array, start: number, end: number, hash: number): number {
    const places = this.#places
    for (let place = hash & this.#mask; ; place = (place + 1) & this.#mask) {
      const at = FIELDS * place
      const number = (places[at + NUMBER] as number) - 1
      if (number < 0) return -1
      if (
        places[at] === hash &&
        this.#isAt(places[at + START] as number, places[at + END] as number, bytes, start, end)
      )
        return number
    }
  }

  /** Adds a string that is not there. */
  add(text: string): number {
    const number = this.#free.pop() ?? this.#texts.length
    this.#texts[number] = kept(text)
    const { bytes, length } = bytesOf(text)
    this.#put(number, bytes, 0, length)
    return number
  }

  *written(): Written {
    yield Uint32Array.from(this.#free)
    yield* writtenTexts(this.#texts)
  }

  /** The places are made anew: the hashes of another process are others. */
  async restore(arrays: Arrays): Promise<void> {
    const free = await arrays.next(Uint32Array)
    const isFree = new Set(free)
    await arrays.texts((bytes, start, end) => {
      const number = this.#texts.push(bytes.toString('utf8', start, end)) - 1
      if (!isFree.has(number)) this.#put(number, bytes, start, end)
    })
    for (const number of free) this.#free.push(number)
  }

  #put(number: number, bytes: Uint8Array, from: number, to: number): void {
    const length = to - from
    this.#makeRoom(length)
    const start = this.#filled
    this.#bytes.set(bytes.subarray(from, to), start)
    this.#filled += length
    if (2 * (this.#texts.length - this.#free.length) > this.#mask) this.#widen()
    this.#place(hashOf(bytes, from, to), number, start, start + length)
  }

  /** The number will be given to another string. */
  remove(number: number): void {
    const utf8 = bytesOf(this.text(number))
    const [places, mask] = [this.#places, this.#mask]
    let hole = hashOf(utf8.bytes, 0, utf8.length) & mask
    while (places[FIELDS * hole + NUMBER] !== number + 1) hole = (hole + 1) & mask
    // What follows without a gap moves up, unless that would put it before its own place.
    for (let at = (hole + 1) & mask; places[FIELDS * at + NUMBER] !== 0; at = (at + 1) & mask) {
      const own = (places[FIELDS * at] as number) & mask
      if (((at - own) & mask) < ((at - hole) & mask)) continue
      places.copyWithin(FIELDS * hole, FIELDS * at, FIELDS * (at + 1))
      hole = at
    }
    places.fill(0, FIELDS * hole, FIELDS * (hole + 1))
    this.#unused += utf8.length
    this.#texts[number] = ''
    this.#free.push(number)
  }

  #isAt(from: number, to: number, bytes: Uint8Array, start: number, end: number): boolean {
    if (to - from !== end - start) return false
    const own = this.#bytes
    for (let i = 0; i < to - from; i += 1) if (own[from + i] !== bytes[start + i]) return false
    return true
  }

  #place(hash: number, number: number, start: number, end: number): void {
    let place = hash & this.#mask
    while (this.#places[FIELDS * place + NUMBER] !== 0) place = (place + 1) & this.#mask
    this.#places[FIELDS * place] = hash
    this.#places[FIELDS * place + NUMBER] = number + 1
    this.#places[FIELDS * place + START] = start
    this.#places[FIELDS * place + END] = end
  }

  #widen(): void {
    const old = this.#places
    this.#places = new Int32Array(2 * old.length)
    this.#mask = 2 * this.#mask + 1
    for (let at = 0; at < old.length; at += FIELDS)
      if (old[at + NUMBER] !== 0)
        this.#place(
          old[at] as number,
          (old[at + NUMBER] as number) - 1,
          old[at + START] as number,
          old[at + END] as number,
        )
  }

  /** Makes room for more bytes: those that are unused are given up first, where they are many. */
  #makeRoom(length: number): void {
    if (this.#filled + length <= this.#bytes.length) return
    const used = this.#filled - this.#unused + length
    const old = this.#bytes
    if (2 * used <= old.length) {
      this.#bytes = new Uint8Array(old.length)
      this.#filled = this.#unused = 0
      for (let at = 0; at < this.#places.length; at += FIELDS) {
        if (this.#places[at + NUMBER] === 0) continue
        const kept = old.subarray(this.#places[at + START], this.#places[at + END])
        this.#bytes.set(kept, this.#filled)
        this.#places[at + START] = this.#filled
        this.#filled += kept.length
        this.#places[at + END] = this.#filled
      }
    } else this.#bytes = grown(old, new Uint8Array(2 * (this.#filled + length)))
  }
}
