import { isFiller } from './filler.ts'
import { wordsThatMatter } from './question.ts'
import { stemOf, wordsOf } from './text.ts'
import type { Vector } from './vector.ts'

/**
 * One way to place terms. A vector has a part for each, one after the other; the square of the share is what the part counts in a
 * cosine, and the squares add up to 1.
 */
export interface Part {
  dims: number
  share: number
}

/** A term with its weight and, for each part, one signed byte per dimension. */
export interface TermVector {
  term: string
  /** How much the term says (inverse document frequency). */
  weight: number
  vectors: readonly (ArrayLike<number> | undefined)[]
}

/** Of the words of a query, the share that must be known. */
const LEAST_KNOWN = 2 / 3
/** A number needs no meaning. */
const NUMBER = /^\p{N}/u
const FORMAT = 'RWV1'
const LENGTH_BYTES = 4

/** The terms of a text, with how often each occurs. Fillers say nothing. */
export function termCounts(text: string, counts = new Map<string, number>(), times = 1): Map<string, number> {
  for (const word of wordsOf(text)) {
    if (isFiller(word)) continue
    const term = stemOf(word)
    counts.set(term, (counts.get(term) ?? 0) + times)
  }
  return counts
}

/** A term that occurs often in a text counts more, but not as much more. */
export const damped = (times: number): number => (times <= 1 ? times : 1 + Math.log(times))

/** The vectors of terms. The vector of a text is the weighted sum of those of its terms. */
export class WordVectors {
  readonly parts: readonly Part[]
  readonly dims: number
  readonly #terms: readonly string[]
  readonly #places: ReadonlyMap<string, number>
  readonly #weights: Float32Array
  /** For each term and each part: what its bytes are multiplied by. */
  readonly #scales: Float32Array
  readonly #bytes: Int8Array

  private constructor(
    parts: readonly Part[],
    terms: readonly string[],
    weights: Float32Array,
    scales: Float32Array,
    bytes: Int8Array,
  ) {
    this.parts = parts
    this.dims = parts.reduce((sum, { dims }) => sum + dims, 0)
    this.#terms = terms
    this.#places = new Map(terms.map((term, place) => [term, place]))
    this.#weights = weights
    this.#scales = scales
    this.#bytes = bytes
  }

  static of(parts: readonly Part[], entries: readonly TermVector[]): WordVectors {
    const dims = parts.reduce((sum, part) => sum + part.dims, 0)
    const scales = new Float32Array(entries.length * parts.length)
    const bytes = new Int8Array(entries.length * dims)
    entries.forEach(({ vectors }, place) => {
      let start = place * dims
      parts.forEach((part, p) => {
        scales[place * parts.length + p] = quantizeInto(bytes, start, vectors[p])
        start += part.dims
      })
    })
    const weights = Float32Array.from(entries, ({ weight }) => weight)
    return new WordVectors(
      parts,
      entries.map(({ term }) => term),
      weights,
      scales,
      bytes,
    )
  }

  /** The number of terms. */
  get size(): number {
    return this.#terms.length
  }

  get terms(): readonly string[] {
    return this.#terms
  }

  weightOf(term: string): number {
    return this.#weights[this.#places.get(term) ?? -1] ?? 0
  }

  /** A part of the vector of a term, of length 1. Undefined: the term is not known there. */
  partOf(term: string, part: number): Float32Array | undefined {
    const place = this.#places.get(term)
    const { dims } = this.parts[part] as Part
    if (place === undefined || this.#scales[place * this.parts.length + part] === 0) return undefined
    let start = place * this.dims
    for (let p = 0; p < part; p += 1) start += (this.parts[p] as Part).dims
    const vector = Float32Array.from(this.#bytes.subarray(start, start + dims))
    const length = Math.hypot(...vector)
    return vector.map((value) => value / length)
  }

  /** The vector of a text. Zeros: none of its words is known. */
  embed(text: string): Vector {
    const terms: [string, number][] = []
    for (const [term, times] of termCounts(text)) terms.push([term, damped(times) * this.weightOf(term)])
    return this.sum(terms)
  }

  /** Whether enough of the words that count in a query are known. A vector of the others would point anywhere. */
  understands(query: string): boolean {
    const words = wordsThatMatter(query)
    const known = words.filter(({ word }) => NUMBER.test(word) || this.#places.has(stemOf(word)))
    return known.length > 0 && known.length >= LEAST_KNOWN * words.length
  }

  /** The vector of terms with these weights. Zeros: none of them is known. */
  sum(terms: Iterable<readonly [term: string, weight: number]>): Vector {
    const sum = new Float64Array(this.dims)
    const parts = this.parts.length
    for (const [term, weight] of terms) {
      const place = this.#places.get(term)
      if (place === undefined) continue
      let at = place * this.dims
      let to = 0
      for (let p = 0; p < parts; p += 1) {
        const factor = weight * (this.#scales[place * parts + p] as number)
        const end = to + (this.parts[p] as Part).dims
        for (; to < end; to += 1, at += 1)
          sum[to] = (sum[to] as number) + factor * (this.#bytes[at] as number)
      }
    }
    return this.#weighted(sum)
  }

  /** Gives each part the length of its share. */
  #weighted(sum: Float64Array): Vector {
    let start = 0
    for (const { dims, share } of this.parts) {
      let square = 0
      for (let i = start; i < start + dims; i += 1) square += (sum[i] as number) ** 2
      const factor = square === 0 ? 0 : share / Math.sqrt(square)
      for (let i = start; i < start + dims; i += 1) sum[i] = (sum[i] as number) * factor
      start += dims
    }
    const vector = new Int8Array(this.dims)
    quantizeInto(vector, 0, sum)
    return vector
  }

  write(): Buffer {
    const head = Buffer.from(JSON.stringify({ parts: this.parts, size: this.size }))
    const terms = Buffer.from(this.#terms.join('\n'))
    const bytes = [
      Buffer.from(FORMAT),
      lengthBytes(head.length),
      head,
      lengthBytes(terms.length),
      terms,
      littleEndian(this.#weights),
      littleEndian(this.#scales),
      Buffer.from(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.length),
    ]
    return Buffer.concat(bytes)
  }

  /** Throws when the bytes are not what `write` returns. */
  static read(bytes: Uint8Array): WordVectors {
    const all = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    let at = FORMAT.length
    const take = (length: number): Buffer => {
      at += length
      if (at > all.length) throw new Error('the word vectors are cut short')
      return all.subarray(at - length, at)
    }
    if (all.toString('latin1', 0, at) !== FORMAT) throw new Error('these are no word vectors of this version')
    const { parts, size }: { parts: Part[]; size: number } = JSON.parse(
      take(take(LENGTH_BYTES).readUInt32LE()).toString(),
    )
    const text = take(take(LENGTH_BYTES).readUInt32LE()).toString()
    const terms = size === 0 ? [] : text.split('\n')
    const weights = floats(take(4 * size))
    const scales = floats(take(4 * size * parts.length))
    const dims = parts.reduce((sum, part) => sum + part.dims, 0)
    const vectors = new Int8Array(take(size * dims))
    if (terms.length !== size || at !== all.length) throw new Error('the word vectors do not fit together')
    return new WordVectors(parts, terms, weights, scales, vectors)
  }
}

/** Writes the values as signed bytes, the largest as ±127. Returns what the bytes are multiplied by to get the values again. */
function quantizeInto(bytes: Int8Array, start: number, values: ArrayLike<number> | undefined): number {
  let largest = 0
  const length = values?.length ?? 0
  for (let i = 0; i < length; i += 1) largest = Math.max(largest, Math.abs(values?.[i] as number))
  if (largest === 0) return 0
  for (let i = 0; i < length; i += 1) bytes[start + i] = Math.round(((values?.[i] as number) / largest) * 127)
  return largest / 127
}

function lengthBytes(length: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES)
  bytes.writeUInt32LE(length)
  return bytes
}

function littleEndian(values: Float32Array): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [i, value] of values.entries()) bytes.writeFloatLE(value, 4 * i)
  return bytes
}

const floats = (bytes: Buffer): Float32Array =>
  Float32Array.from({ length: bytes.length / 4 }, (_, i) => bytes.readFloatLE(4 * i))
