import type { Arrays, Written } from './arrays.ts'
import { HEARSAY, type WordReader } from './document.ts'
import { grown, type Numbers } from './numbers.ts'
import { HASH_SEED, hashed, mixed, StringTable, Utf8 } from './string-table.ts'
import { bytesInWord, fold, newStemOf, PLAIN } from './text.ts'

/** The lower bounds of the score classes, of 255: finer at the top, where names are. The first class is for terms of reviews only. */
const STARTS = [0, HEARSAY + 1, 128, 170, 200, 220, 232, 241] as const
export const STEPS = STARTS.length
export const HEARD = 0

const STEP_OF = Uint8Array.from({ length: 256 }, (_, worth) =>
  STARTS.findLastIndex((start) => start <= worth),
)

export const stepOf = (worth: number): number => STEP_OF[worth] as number

/** The average score of each class, from 0 to 1. */
export const WORTH_OF_STEP = STARTS.map((start, step) => (start + (STARTS[step + 1] ?? 256)) / 512)

const NONE = -1
const decoder = new TextDecoder()

function isSame(bytes: Uint8Array, start: number, end: number, other: number, otherEnd: number): boolean {
  if (end - start !== otherEnd - other) return false
  for (let i = 0; i < end - start; i += 1) if (bytes[start + i] !== bytes[other + i]) return false
  return true
}

/** All terms (stems) in use and the words that they were made of, both with numbers. */
export class Terms implements WordReader {
  readonly words = new StringTable()
  readonly #stems = new StringTable()
  readonly #text = new Utf8()
  /** By word: its term, and the next word of the same term. */
  #termOf = new Uint32Array(1024)
  #next = new Int32Array(1024)
  /** By term: one of its words. */
  #first = new Int32Array(1024)

  get(stem: string): number | undefined {
    const term = this.#stems.get(stem)
    return term === NONE ? undefined : term
  }

  /** All terms have lower numbers. */
  get end(): number {
    return this.#stems.end
  }

  /** The numbers of all terms. */
  all(): Iterable<number> {
    return this.#stems.numbers()
  }

  termOf(word: number): number {
    return this.#termOf[word] as number
  }

  /** Appends the words of a text, in its order; adds those that are new. */
  read(text: string, into: Numbers): void {
    const utf8 = this.#text.set(text)
    const isAscii = utf8.length === text.length
    if (!isAscii) utf8.set(fold(text))
    const { bytes, length } = utf8
    // Words of reviews are repeated one after the other: the same word is not looked up again.
    let [before, beforeStart, beforeEnd, beforeHash] = [NONE, 0, 0, 0]
    for (let at = 0; at < length; ) {
      const start = at
      let hash = HASH_SEED
      while (at < length) {
        const byte = bytes[at] as number
        const plain = PLAIN[byte] as number
        if (plain !== 0) {
          bytes[at] = plain
          hash = hashed(hash, plain)
          at += 1
          continue
        }
        const more = byte < 0x80 ? 0 : bytesInWord(bytes, at)
        if (more === 0) break
        for (const end = at + more; at < end; at += 1) hash = hashed(hash, bytes[at] as number)
      }
      if (at === start) {
        at += 1
        continue
      }
      if (hash !== beforeHash || !isSame(bytes, beforeStart, beforeEnd, start, at)) {
        const word = this.words.find(bytes, start, at, mixed(hash))
        before = word === NONE ? this.#add(decoder.decode(bytes.subarray(start, at))) : word
        beforeHash = hash
      }
      into.push(before)
      beforeStart = start
      beforeEnd = at
    }
  }

  /** Removes a term that no product uses, and its words. */
  forget(term: number): void {
    for (let word = this.#first[term] as number; word !== NONE; word = this.#next[word] as number)
      this.words.remove(word)
    this.#stems.remove(term)
  }

  *written(): Written {
    yield* this.words.written()
    yield* this.#stems.written()
    yield this.#termOf.subarray(0, this.words.end)
    yield this.#next.subarray(0, this.words.end)
    yield this.#first.subarray(0, this.#stems.end)
  }

  async restore(arrays: Arrays): Promise<void> {
    await this.words.restore(arrays)
    await this.#stems.restore(arrays)
    this.#termOf = await arrays.next(Uint32Array, this.#termOf.length)
    this.#next = await arrays.next(Int32Array, this.#next.length)
    this.#first = await arrays.next(Int32Array, this.#first.length)
  }

  #add(text: string): number {
    const word = this.words.add(text)
    if (word >= this.#termOf.length) {
      this.#termOf = grown(this.#termOf, new Uint32Array(2 * word))
      this.#next = grown(this.#next, new Int32Array(2 * word))
    }
    const term = this.#ensure(newStemOf(text))
    this.#termOf[word] = term
    this.#next[word] = this.#first[term] as number
    this.#first[term] = word
    return word
  }

  #ensure(stem: string): number {
    const known = this.#stems.get(stem)
    if (known !== NONE) return known
    const term = this.#stems.add(stem)
    if (term >= this.#first.length) this.#first = grown(this.#first, new Int32Array(2 * term))
    this.#first[term] = NONE
    return term
  }
}
