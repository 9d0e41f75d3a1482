import { hash } from 'node:crypto'
import { Best } from './best.ts'
import type { Cells } from './cells.ts'
import { type Wish, wishesOf } from './question.ts'
import { type Aim, aimAt, GUIDES, intentMatch, nearness, productScore, wordMatch } from './ranker.ts'
import { ANY, Shelf } from './shelf.ts'
import { lengthOf, type Vector } from './vector.ts'
import { Vectors } from './vectors.ts'
import { Words } from './words.ts'

/** What is known of a product that can be found. */
export interface Product {
  /** Whoever is before another by this comes first where all else is equal. */
  key: string
  name: string
  category: string
  description: string
  /** What its reviews say, as words, each as often as it shall count. */
  evidence: string
  /** From 0 to 1. */
  rank: number
  /** In base units; undefined: not known. */
  price: number | undefined
  /** It is sold for no less. */
  leastPrice: number
  vector: Vector | undefined
}

export interface Question {
  /** What somebody wants, in words. */
  intent: string
  /** The same as a vector of the model that the products' vectors are of; undefined: words alone decide. */
  vector: Vector | undefined
  /** Only products of exactly this category. */
  category: string | undefined
  /** Only products that are not known to cost more. */
  ceiling: number | undefined
  limit: number
}

export interface Hit {
  key: string
  /** How well it is what was asked for, from 0 to 1; the same whatever filters there are. */
  intentMatch: number
  rank: number
}

/** So few are all measured. */
const FEW = 1000
/** So few that a question admits are looked at one by one, where that is less than to read lists. */
const NARROW = 16_000
const BY_WORDS = 150
const BY_VECTOR = 50

interface Entry {
  slot: number
  category: string
  text: string
}

/** The products of one chain. The same products give the same answers, in whatever order they came and went. */
export class Catalogue {
  readonly #entries = new Map<string, Entry>()
  readonly #shelf = new Shelf()
  readonly #words = new Words(this.#shelf)
  readonly #vectors = new Vectors(this.#shelf)

  get size(): number {
    return this.#entries.size
  }

  /** New or changed; only what differs is done again. */
  put(product: Product): void {
    const { key, name, category, description, evidence, rank, price, leastPrice, vector } = product
    const text = hash('sha256', `${name}\0${category}\0${description}\0${evidence}`, 'base64')
    let entry = this.#entries.get(key)
    if (entry !== undefined && entry.category !== category) {
      this.drop(key)
      entry = undefined
    }
    if (entry === undefined) {
      entry = { slot: this.#shelf.take(key, category, rank, price ?? leastPrice), category, text: '' }
      this.#entries.set(key, entry)
    } else this.#shelf.value(entry.slot, rank, price ?? leastPrice)
    if (entry.text !== text) {
      this.#words.put(entry.slot, product)
      entry.text = text
    }
    if (!same(this.#vectors.get(entry.slot), vector)) this.#vectors.set(entry.slot, vector)
  }

  drop(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#vectors.set(entry.slot, undefined)
    this.#words.remove(entry.slot)
    this.#shelf.leave(entry.slot, entry.category)
  }

  useCells(cells: Cells | undefined): void {
    this.#vectors.useCells(cells)
  }

  /** The best first; of those that are equally good, by key. */
  find({ intent, vector, category, ceiling, limit }: Question): Hit[] {
    const wishes = this.#read(intent)
    const match = this.#matches(wishes)
    const most = Math.max(BY_WORDS, 2 * limit)
    const everything = this.size <= FEW ? [...this.#entries.values()].map(({ slot }) => slot) : undefined
    const found = everything ?? this.#words.candidates(wishes, { filter: ANY, most, among: undefined, match })
    const aim = vector === undefined || lengthOf(vector) === 0 ? undefined : this.#aim(vector, found, match)
    const length = aim === undefined ? 0 : lengthOf(aim.vector)

    const filter = this.#shelf.filter(category, ceiling)
    const among = everything ?? this.#shelf.among(category, ceiling, NARROW)
    const few = among === undefined || among.length > FEW ? undefined : among
    const isFiltered = category !== undefined || ceiling !== undefined
    const slots = new Set(
      few?.filter((slot) => this.#shelf.admits(slot, filter)) ??
        (isFiltered ? this.#words.candidates(wishes, { filter, most, among, match }) : found),
    )
    if (aim !== undefined && few === undefined) {
      for (const slot of this.#vectors.candidates(aim.vector, filter, Math.max(BY_VECTOR, limit), among))
        slots.add(slot)
    }
    const hits: Hit[] = []
    for (const slot of slots) {
      const near = aim === undefined ? 0 : nearness(this.#vectors.cosine(slot, aim.vector, length))
      const whole = intentMatch(match(slot), near, aim?.share ?? 0)
      if (whole > 0)
        hits.push({ key: this.#shelf.keys[slot] as string, intentMatch: whole, rank: this.#shelf.rank(slot) })
    }
    const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
    return hits.sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1)).slice(0, limit)
  }

  /** What share of the wishes a slot fulfils; measured once for each. */
  #matches(wishes: readonly Wish<number>[]): (slot: number) => number {
    const known = new Map<number, number>()
    return (slot) => {
      let match = known.get(slot)
      if (match === undefined) {
        match = wordMatch(wishes, (term) => this.#words.worth(slot, term))
        known.set(slot, match)
      }
      return match
    }
  }

  /** By the best of what words find in the whole catalogue, whatever is asked for. */
  #aim(vector: Vector, found: Iterable<number>, match: (slot: number) => number): Aim {
    const best = new Best(GUIDES, this.#shelf.keys)
    for (const slot of found) {
      const words = match(slot)
      if (words > 0) best.offer(slot, words)
    }
    const guides = best
      .inOrder()
      .map(({ slot, score }) => ({ words: score, vector: this.#vectors.get(slot) }))
    return aimAt(vector, guides)
  }

  #read(intent: string): Wish<number>[] {
    const { terms, spelling } = this.#words
    const vocabulary = {
      size: this.size,
      users: (term: string) => this.#words.users(term),
      heard: (term: string) => this.#words.heard(term),
      similar: (word: string) => spelling.similar(word),
    }
    return wishesOf(intent, vocabulary).map(({ weight, ways }) => ({
      weight,
      ways: ways.map((way) => ({ ...way, terms: way.terms.flatMap((text) => terms.get(text) ?? []) })),
    }))
  }
}

function same(a: Vector | undefined, b: Vector | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && a.every((value, i) => value === b[i])
}
