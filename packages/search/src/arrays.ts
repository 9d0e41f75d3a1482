// How a catalogue becomes bytes: its structures are arrays of numbers, written one after the other and read in the same order.
import { grown, type Typed } from './numbers.ts'

/** Of the bytes of a catalogue, and of what they say of a text: another number where either changes. */
export const FORMAT = 1

/** The arrays of a structure, as they are: it must not change until all are written. */
export type Written = Generator<Typed, void>

/** Before each array: its length, and the bytes of a number. */
const HEAD = 2
/** So many strings are written, and read, at once. */
const TEXTS_AT_ONCE = 2_048

/** The bytes, in parts of this length; the last one may be shorter. A part is valid until the next one is asked for. */
export function* partsOf(written: Written, length: number): Generator<Uint8Array, void> {
  const part = new Uint8Array(length)
  let filled = 0
  for (const array of written) {
    for (const numbers of [Uint32Array.of(array.length, array.BYTES_PER_ELEMENT), array]) {
      const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength)
      for (let at = 0; at < bytes.length; ) {
        const piece = bytes.subarray(at, at + length - filled)
        part.set(piece, filled)
        at += piece.length
        filled += piece.length
        if (filled < length) continue
        yield part
        filled = 0
      }
    }
  }
  if (filled > 0) yield part.subarray(0, filled)
}

/** Reads arrays from parts of any length. */
export class Arrays {
  readonly #parts: AsyncIterator<Uint8Array>
  #part: Uint8Array = new Uint8Array(0)
  #at = 0

  constructor(parts: AsyncIterator<Uint8Array>) {
    this.#parts = parts
  }

  /** The next array; one that has to grow later needs some room at the `least`. */
  async next<Numbers extends Typed>(
    Type: { new (length: number): Numbers; readonly BYTES_PER_ELEMENT: number },
    least = 0,
  ): Promise<Numbers> {
    const head = new Uint32Array(HEAD)
    await this.#fill(head)
    const [length = 0, bytes] = head
    if (bytes !== Type.BYTES_PER_ELEMENT)
      throw new Error(`an array has ${bytes} bytes for a number, not ${Type.BYTES_PER_ELEMENT}`)
    const numbers = new Type(length)
    await this.#fill(numbers)
    return length >= least ? numbers : grown(numbers, new Type(least))
  }

  /** The strings that `writtenTexts` wrote: calls `onText` with the bytes of each. */
  async texts(onText: (bytes: Buffer, start: number, end: number) => void): Promise<void> {
    const [count = 0] = await this.next(Uint32Array)
    for (let from = 0; from < count; from += TEXTS_AT_ONCE) {
      const lengths = await this.next(Uint32Array)
      const bytes = Buffer.from((await this.next(Uint8Array)).buffer)
      let start = 0
      for (const length of lengths) {
        onText(bytes, start, start + length)
        start += length
      }
    }
  }

  /** To be called after the last array. */
  async end(): Promise<void> {
    if (this.#at < this.#part.length || !(await this.#parts.next()).done)
      throw new Error('there are more bytes than arrays')
  }

  async #fill({ buffer }: Typed): Promise<void> {
    const bytes = new Uint8Array(buffer)
    for (let filled = 0; filled < bytes.length; ) {
      if (this.#at === this.#part.length) await this.#nextPart()
      const piece = this.#part.subarray(this.#at, this.#at + bytes.length - filled)
      bytes.set(piece, filled)
      filled += piece.length
      this.#at += piece.length
    }
  }

  async #nextPart(): Promise<void> {
    const { done, value } = await this.#parts.next()
    if (done) throw new Error('the bytes end in the middle of an array')
    this.#part = value
    this.#at = 0
  }
}

export function* writtenTexts(texts: readonly string[]): Written {
  yield Uint32Array.of(texts.length)
  for (let from = 0; from < texts.length; from += TEXTS_AT_ONCE) {
    const some = texts.slice(from, from + TEXTS_AT_ONCE)
    yield Uint32Array.from(some, (text) => Buffer.byteLength(text))
    yield Buffer.from(some.join(''))
  }
}
