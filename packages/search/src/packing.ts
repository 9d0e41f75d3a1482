import type { Numbers } from './numbers.ts'

/** Seven bits of a number are in a byte; the eighth says that there are more. */
const BITS = 7
const MORE = 2 ** BITS
const MOST_BYTES = 5
const NONE = new Uint32Array(0)

/** Packs ascending numbers: how many there are, then their differences, in as few bytes as each needs. */
export class Packing {
  #bytes = new Uint8Array(1024)
  #length = 0

  /** A view, valid until the next call. */
  pack(ascending: Uint32Array): Uint32Array {
    if (ascending.length === 0) return NONE
    const most = MOST_BYTES * (ascending.length + 1) + 3
    if (most > this.#bytes.length) this.#bytes = new Uint8Array(8 * most)
    this.#length = 0
    this.#write(ascending.length)
    let before = 0
    for (let i = 0; i < ascending.length; i += 1) {
      this.#write((ascending[i] as number) - before)
      before = ascending[i] as number
    }
    return new Uint32Array(this.#bytes.buffer, 0, (this.#length + 3) >> 2)
  }

  /** Replaces the numbers with what was packed. Returns a view of them. */
  unpack(packed: Uint32Array, into: Numbers): Uint32Array {
    into.length = 0
    if (packed.length === 0) return NONE
    const bytes = new Uint8Array(packed.buffer, packed.byteOffset, packed.byteLength)
    let at = 0
    let sum = 0
    // The first number is how many follow.
    for (let left = -1; left !== 0; left -= 1) {
      let number = 0
      let times = 1
      for (; (bytes[at] as number) >= MORE; at += 1, times *= MORE)
        number += ((bytes[at] as number) - MORE) * times
      number += (bytes[at] as number) * times
      at += 1
      if (left < 0) left = number + 1
      else {
        sum += number
        into.push(sum)
      }
    }
    return into.view()
  }

  #write(number: number): void {
    let rest = number
    for (; rest >= MORE; rest = Math.floor(rest / MORE)) {
      this.#bytes[this.#length] = MORE + (rest % MORE)
      this.#length += 1
    }
    this.#bytes[this.#length] = rest
    this.#length += 1
  }
}
