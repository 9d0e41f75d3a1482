import type { Similar } from './question.ts'
import { kept } from './text.ts'

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
  readonly #sharing = new Map<string, number[]>()
  readonly #words: string[] = []
  /** How many products use each word. */
  readonly #users: number[] = []
  readonly #ids = new Map<string, number>()
  readonly #free: number[] = []
  #shared = new Uint8Array(1024)

  /** Adds the words of a product. Returns the handle for `remove`. */
  add(words: Iterable<string>): Uint32Array {
    const ids: number[] = []
    for (const word of words) if (canBeMisspelt(word)) ids.push(this.#use(word))
    return Uint32Array.from(ids)
  }

  remove(ids: Uint32Array): void {
    for (const id of ids) {
      const users = (this.#users[id] as number) - 1
      this.#users[id] = users
      if (users === 0) this.#forget(id)
    }
  }

  similar(word: string): Similar[] {
    if (!canBeMisspelt(word)) return []
    for (let mistakes = 1; mistakes <= mistakesIn(word); mistakes += 1) {
      const near = this.#candidates(word, mistakes)
      const found = nearestWords(
        word,
        near.map((id) => ({ word: this.#words[id] as string, users: this.#users[id] as number })),
        mistakes,
      )
      if (found.length > 0) return found
    }
    return []
  }

  #use(word: string): number {
    const known = this.#ids.get(word)
    if (known !== undefined) {
      this.#users[known] = (this.#users[known] as number) + 1
      return known
    }
    const id = this.#free.pop() ?? this.#words.length
    const own = kept(word)
    this.#words[id] = own
    this.#users[id] = 1
    this.#ids.set(own, id)
    if (id >= this.#shared.length) this.#shared = new Uint8Array(2 * this.#shared.length)
    for (const pair of pairsOf(word)) {
      const sharing = this.#sharing.get(pair)
      if (sharing === undefined) this.#sharing.set(pair, [id])
      else sharing.push(id)
    }
    return id
  }

  #forget(id: number): void {
    const word = this.#words[id] as string
    this.#ids.delete(word)
    this.#free.push(id)
    for (const pair of pairsOf(word)) {
      const sharing = this.#sharing.get(pair) as number[]
      const last = sharing.pop() as number
      if (sharing.length === 0) this.#sharing.delete(pair)
      else if (last !== id) sharing[sharing.indexOf(id)] = last
    }
  }

  #candidates(word: string, most: number): number[] {
    const pairs = pairsOf(word)
    const enough = Math.max(1, pairs.length - PAIRS_LOST * most)
    const touched: number[] = []
    const candidates: number[] = []
    for (const pair of pairs) {
      for (const id of this.#sharing.get(pair) ?? []) {
        const shared = (this.#shared[id] as number) + 1
        this.#shared[id] = shared
        if (shared === 1) touched.push(id)
        if (shared === enough) candidates.push(id)
      }
    }
    for (const id of touched) this.#shared[id] = 0
    return candidates.filter((id) => Math.abs((this.#words[id] as string).length - word.length) <= most)
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

/** The distinct bigrams of a word, including its start and end. */
function pairsOf(word: string): string[] {
  const padded = `^${word}$`
  const pairs = new Set<string>()
  for (let i = 0; i + 1 < padded.length; i += 1) pairs.add(padded.slice(i, i + 2))
  return [...pairs]
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
