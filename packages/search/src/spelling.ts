import type { Arrays, Written } from './arrays.ts'
import { Lists } from './lists.ts'
import { grown } from './numbers.ts'
import type { Similar } from './question.ts'
import type { StringTable } from './string-table.ts'

const SHORTEST = 4
const LONGEST = 24
/** From this length on, two mistakes are allowed. */
const TWO_FROM = 8
const SUGGESTIONS = 3
const LIKENESS = [1, 0.8, 0.6] as const
/** Swapping two letters changes three letter pairs (bigrams), any other mistake two. */
const PAIRS_LOST = 3
const LETTERS = /^\p{L}+$/u

/** A spelling index: finds the words of products that share bigrams with a given word. */
export class Spelling {
  readonly #words: StringTable
  /** By word: how many products use it in their own text. */
  #users = new Uint32Array(1024)
  /** The words that share a pair of letters, by the number of the pair. */
  readonly #sharing = new Lists()
  readonly #pairs = new Map<number, number>()
  #shared = new Uint8Array(1024)

  /** The words are known by their numbers in this table. */
  constructor(words: StringTable) {
    this.#words = words
  }

  /** Whether a word is worth counting. */
  counts(word: number): boolean {
    return (this.#users[word] ?? 0) > 0 || canBeMisspelt(this.#words.text(word))
  }

  /** Counts one more product that uses these words. */
  add(words: Uint32Array): void {
    for (const word of words) {
      if (word >= this.#users.length) {
        this.#users = grown(this.#users, new Uint32Array(2 * word))
        this.#shared = new Uint8Array(2 * word)
      }
      const users = (this.#users[word] as number) + 1
      this.#users[word] = users
      if (users > 1) continue
      for (const pair of pairsOf(this.#words.text(word))) this.#sharing.push(this.#numberOf(pair), word)
    }
  }

  /** Counts one product less. */
  remove(words: Uint32Array): void {
    for (const word of words) {
      const users = (this.#users[word] as number) - 1
      this.#users[word] = users
      if (users > 0) continue
      for (const pair of pairsOf(this.#words.text(word))) this.#sharing.take(this.#numberOf(pair), word)
    }
  }

  similar(word: string): Similar[] {
    if (!canBeMisspelt(word)) return []
    for (let mistakes = 1; mistakes <= mistakesIn(word); mistakes += 1) {
      const near = this.#candidates(word, mistakes)
      const found = nearestWords(
        word,
        near.map((id) => ({ word: this.#words.text(id), users: this.#users[id] as number })),
        mistakes,
      )
      if (found.length > 0) return found
    }
    return []
  }

  pack(): void {
    this.#sharing.pack()
  }

  *written(): Written {
    yield this.#users.subarray(0, this.#words.end)
    // By their numbers: that is the order in which they came.
    yield Uint32Array.from(this.#pairs.keys())
    yield* this.#sharing.written()
  }

  async restore(arrays: Arrays): Promise<void> {
    this.#users = await arrays.next(Uint32Array, this.#users.length)
    this.#shared = new Uint8Array(this.#users.length)
    for (const pair of await arrays.next(Uint32Array)) this.#numberOf(pair)
    await this.#sharing.restore(arrays)
  }

  /** A pair keeps its number: there are not many of them. */
  #numberOf(pair: number): number {
    const known = this.#pairs.get(pair)
    if (known !== undefined) return known
    const number = this.#pairs.size
    this.#pairs.set(pair, number)
    return number
  }

  #candidates(word: string, most: number): number[] {
    const pairs = pairsOf(word)
    const enough = Math.max(1, pairs.length - PAIRS_LOST * most)
    const shared = this.#shared
    const lists = pairs.flatMap((pair) => {
      const number = this.#pairs.get(pair)
      return number === undefined ? [] : [this.#sharing.of(number)]
    })
    const candidates: number[] = []
    for (const list of lists) {
      for (let i = 0; i < list.length; i += 1) {
        const id = list[i] as number
        const count = (shared[id] as number) + 1
        shared[id] = count
        if (count === enough) candidates.push(id)
      }
    }
    for (const list of lists) for (let i = 0; i < list.length; i += 1) shared[list[i] as number] = 0
    return candidates.filter((id) => Math.abs(this.#words.text(id).length - word.length) <= most)
  }
}

/** The candidates with the smallest edit distance from a word, most common first. */
export function nearestWords(
  word: string,
  candidates: readonly { word: string; users: number }[],
  most: number = mistakesIn(word),
): Similar[] {
  if (!canBeMisspelt(word)) return []
  const found = candidates
    .map((candidate) => ({ ...candidate, distance: distanceOf(word, candidate.word, most) }))
    .filter(({ distance }) => distance > 0 && distance <= most)
  const least = Math.min(...found.map(({ distance }) => distance))
  const sameStart = (other: string) => (other[0] === word[0] ? 1 : 0)
  return found
    .filter(({ distance }) => distance === least)
    .sort((a, b) => sameStart(b.word) - sameStart(a.word) || b.users - a.users || (a.word < b.word ? -1 : 1))
    .slice(0, SUGGESTIONS)
    .map((meant, i) => ({
      word: meant.word,
      users: meant.users,
      likeness: (LIKENESS[least] ?? 0) / (1 + i / 2),
    }))
}

/** The allowed edit distance for a word. */
const mistakesIn = (word: string): number => (word.length >= TWO_FROM ? 2 : 1)

export const canBeMisspelt = (word: string): boolean =>
  word.length >= SHORTEST && word.length <= LONGEST && LETTERS.test(word)

const START = '^'.charCodeAt(0)
const END = '$'.charCodeAt(0)

/** The distinct bigrams of a word, including its start and end, as first × 2^16 + second. */
function pairsOf(word: string): number[] {
  const pairs: number[] = []
  let before = START
  for (let i = 0; i <= word.length; i += 1) {
    const code = i < word.length ? word.charCodeAt(i) : END
    const pair = before * 2 ** 16 + code
    if (!pairs.includes(pair)) pairs.push(pair)
    before = code
  }
  return pairs
}

/** Rows of the table below, reused because the distance is computed for thousands of words. */
let [row, above, aboveThat] = [0, 0, 0].map(() => new Uint8Array(LONGEST + 2)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]

/** The Damerau-Levenshtein distance of words of at most 24 letters; `most + 1` stands for anything above `most`. */
export function distanceOf(a: string, b: string, most: number): number {
  const tooFar = most + 1
  if (Math.abs(a.length - b.length) > most) return tooFar
  for (let j = 0; j <= b.length; j += 1) row[j] = Math.min(j, tooFar)
  for (let i = 1; i <= a.length; i += 1) {
    ;[aboveThat, above, row] = [above, row, aboveThat]
    // Outside of this band the distance exceeds `most`.
    const from = Math.max(1, i - most)
    const to = Math.min(b.length, i + most)
    row[from - 1] = from === 1 ? Math.min(i, tooFar) : tooFar
    let least = row[from - 1] as number
    for (let j = from; j <= to; j += 1) {
      const change = a.charCodeAt(i - 1) === b.charCodeAt(j - 1) ? 0 : 1
      let cost = Math.min((above[j - 1] as number) + change, (row[j - 1] as number) + 1)
      if (j < i + most) cost = Math.min(cost, (above[j] as number) + 1)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, (aboveThat[j - 2] as number) + 1)
      row[j] = Math.min(cost, tooFar)
      least = Math.min(least, cost)
    }
    if (least >= tooFar) return tooFar
  }
  return row[b.length] as number
}
