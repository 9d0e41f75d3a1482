import type { Similar } from './question.ts'

const SHORTEST = 4
const LONGEST = 24
/** From so many letters on, two mistakes are forgiven. */
const TWO_FROM = 8
const SUGGESTIONS = 3
const LIKENESS = [1, 0.8, 0.6] as const
/** A swapped pair changes three pairs, any other mistake two. */
const PAIRS_LOST = 3
const LETTERS = /^\p{L}+$/u

/** The terms in use, found by what somebody may have meant. A word is looked for among those that share pairs of letters with it. */
export class Spelling {
  readonly #sharing = new Map<string, number[]>()
  readonly #terms: string[] = []
  readonly #free: number[] = []
  readonly #ids = new Map<string, number>()
  #shared = new Uint8Array(1024)

  add(term: string): void {
    if (!canBeMisspelt(term)) return
    const id = this.#free.pop() ?? this.#terms.length
    this.#terms[id] = term
    this.#ids.set(term, id)
    if (id >= this.#shared.length) this.#shared = new Uint8Array(2 * this.#shared.length)
    for (const pair of pairsOf(term)) {
      const sharing = this.#sharing.get(pair)
      if (sharing === undefined) this.#sharing.set(pair, [id])
      else sharing.push(id)
    }
  }

  remove(term: string): void {
    const id = this.#ids.get(term)
    if (id === undefined) return
    this.#ids.delete(term)
    this.#free.push(id)
    for (const pair of pairsOf(term)) {
      const sharing = this.#sharing.get(pair) ?? []
      const last = sharing.pop()
      if (sharing.length === 0 && last === id) this.#sharing.delete(pair)
      else if (last !== undefined && last !== id) sharing[sharing.indexOf(id)] = last
    }
  }

  /** The nearest terms, the commonest first. */
  similar(word: string, frequency: (term: string) => number): Similar[] {
    if (!canBeMisspelt(word)) return []
    const most = word.length >= TWO_FROM ? 2 : 1
    const found = this.#candidates(word, most).flatMap((term) => {
      const distance = distanceOf(word, term, most)
      return distance > most
        ? []
        : [{ term, distance, holders: frequency(term), sameStart: term[0] === word[0] ? 1 : 0 }]
    })
    const least = Math.min(...found.map(({ distance }) => distance))
    return found
      .filter(({ distance }) => distance === least)
      .sort((a, b) => b.sameStart - a.sameStart || b.holders - a.holders || (a.term < b.term ? -1 : 1))
      .slice(0, SUGGESTIONS)
      .map(({ term }, i) => ({ term, likeness: (LIKENESS[least] ?? 0) / (1 + i / 2) }))
  }

  #candidates(word: string, most: number): string[] {
    const pairs = pairsOf(word)
    const enough = Math.max(1, pairs.length - PAIRS_LOST * most)
    const touched: number[] = []
    const candidates: string[] = []
    for (const pair of pairs) {
      for (const id of this.#sharing.get(pair) ?? []) {
        const shared = ((this.#shared[id] as number) + 1) as number
        this.#shared[id] = shared
        if (shared === 1) touched.push(id)
        if (shared === enough) candidates.push(this.#terms[id] as string)
      }
    }
    for (const id of touched) this.#shared[id] = 0
    return candidates.filter((term) => Math.abs(term.length - word.length) <= most)
  }
}

const canBeMisspelt = (term: string): boolean =>
  term.length >= SHORTEST && term.length <= LONGEST && LETTERS.test(term)

/** Each once, with the start and the end of the word. */
function pairsOf(term: string): string[] {
  const padded = `^${term}$`
  const pairs = new Set<string>()
  for (let i = 0; i + 1 < padded.length; i += 1) pairs.add(padded.slice(i, i + 2))
  return [...pairs]
}

/** How many letters to put in, take out, change, or swap with the next; more than `most` is told as one more. */
export function distanceOf(a: string, b: string, most: number): number {
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let least = Math.min(
        (row[j - 1] as number) + change,
        (row[j] as number) + 1,
        (next[j - 1] as number) + 1,
      )
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, (before[j - 2] as number) + 1)
      next.push(least)
    }
    if (Math.min(...next) > most) return most + 1
    before = row
    row = next
  }
  return Math.min(row[b.length] as number, most + 1)
}
