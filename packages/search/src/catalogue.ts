import type { Arrays, Written } from './arrays.ts'
import { Best } from './best.ts'
import type { Cells } from './cells.ts'
import { type Reading, type ReadWord, readingOf, type Wish, wishesOf } from './question.ts'
import { type Aim, aimAt, GUIDES, intentMatch, nearness, productScore, wordMatch } from './ranker.ts'
import { ANY, SlotTable } from './slot-table.ts'
import { TermIndex } from './term-index.ts'
import { lengthOf, type Vector } from './vector.ts'
import { Vectors } from './vectors.ts'

/** A product as the catalogue indexes it. */
export interface Product {
  /** Identifies the product; ties in the score are broken by the lower key. */
  key: string
  name: string
  category: string
  description: string
  /** The words of its reviews, each repeated as often as it counts. */
  evidence: string
  /** From 0 to 1. */
  rank: number
  /** In USDC base units; undefined when not known. */
  price: number | undefined
  /** The lowest price it can be sold for. */
  leastPrice: number
  vector: Vector | undefined
}

export interface Question {
  /** The text of the search query. */
  intent: string
  /**
   * The embedding of the query, of the same model as the products' embeddings; zeros if the model does not understand the query. Undefined
   * searches by words alone.
   */
  vector: Vector | undefined
  /** Only products of exactly this category. */
  category: string | undefined
  /** Leaves out products that are known to cost more. */
  ceiling: number | undefined
  limit: number
}

export interface Hit {
  key: string
  /** How well the product matches the query, from 0 to 1; filters do not change it. */
  intentMatch: number
  rank: number
}

/** A hit with the parts of its match: (1 − share) × words + share × near. */
export interface ExplainedHit extends Hit {
  /** The share of what was asked for that the product has in words. */
  words: number
  /** How near its vector is; 0 without one. */
  near: number
}

/** The answer of a catalogue, and how it came about. */
export interface Explained {
  hits: ExplainedHit[]
  /** The share of the vector in a match; 0: no vectors were compared. */
  share: number
  reading: Reading
}

/** Up to this many products, all are scored without an index. */
const FEW = 1000
/** Up to this many slots that pass the filter are scored one by one, where that is cheaper than reading posting lists. */
const NARROW = 16_000
const BY_WORDS = 150
const BY_VECTOR = 50

/** The products of one chain. The answers depend only on the products, not on the order of updates. */
export class Catalogue {
  readonly #slots = new Map<string, number>()
  readonly #slotTable = new SlotTable()
  readonly #termIndex = new TermIndex(this.#slotTable)
  readonly #vectors = new Vectors(this.#slotTable)

  get size(): number {
    return this.#slots.size
  }

  /** Adds or updates a product; only what changed is indexed again. */
  put(product: Product): void {
    const { key, category, rank, price, leastPrice, vector } = product
    let slot = this.#slots.get(key)
    if (slot !== undefined && this.#slotTable.category(slot) !== category) {
      this.drop(key)
      slot = undefined
    }
    if (slot === undefined) {
      slot = this.#slotTable.add(key, category, rank, price ?? leastPrice)
      this.#slots.set(key, slot)
    } else this.#slotTable.update(slot, rank, price ?? leastPrice)
    this.#termIndex.put(slot, product)
    if (!same(this.#vectors.get(slot), vector)) this.#vectors.set(slot, vector)
  }

  drop(key: string): void {
    const slot = this.#slots.get(key)
    if (slot === undefined) return
    this.#slots.delete(key)
    this.#vectors.set(slot, undefined)
    this.#termIndex.remove(slot)
    this.#slotTable.remove(slot)
  }

  /** To be called before much is added. Nothing is found until it is finished. */
  start(): void {
    this.#termIndex.start()
  }

  /** `turn` is called every few milliseconds, and awaited. */
  async finish(turn: () => Promise<void>): Promise<void> {
    await this.#termIndex.finish(turn)
    this.#slotTable.pack()
    this.#termIndex.pack()
    this.#vectors.pack()
  }

  useCells(cells: Cells | undefined): void {
    this.#vectors.useCells(cells)
  }

  /** Everything but the cells. It must not change until all is written; `restore` gives it back. */
  *written(): Written {
    yield* this.#slotTable.written()
    yield* this.#termIndex.written()
    yield* this.#vectors.written()
  }

  /** Restores what was written, in an empty catalogue, after the same cells have been set. */
  async restore(arrays: Arrays): Promise<void> {
    await this.#slotTable.restore(arrays)
    for (const [slot, key] of this.#slotTable.keys.entries()) if (key !== '') this.#slots.set(key, slot)
    await this.#termIndex.restore(arrays)
    await this.#vectors.restore(arrays)
    await arrays.end()
  }

  /** The hits, best first; ties are broken by key. */
  find(question: Question): Hit[] {
    return this.#search(question, this.#read(question.intent)).hits
  }

  /** The same hits, with their parts and how the query was read. */
  explain(question: Question): Explained {
    const words = this.#read(question.intent)
    const { hits, share, partsOf } = this.#search(question, words)
    return {
      hits: hits.map((hit) => ({ ...hit, ...partsOf(hit.key) })),
      share,
      reading: readingOf(question.intent, words),
    }
  }

  #search({ vector, category, ceiling, limit }: Question, words: readonly ReadWord[]) {
    const wishes = this.#numbered(words)
    const match = this.#matches(wishes)
    const most = Math.max(BY_WORDS, 2 * limit)
    const everything = this.size <= FEW ? Uint32Array.from(this.#slots.values()) : undefined
    const found =
      everything ?? this.#termIndex.candidates(wishes, { filter: ANY, most, among: undefined, match })
    const aim = vector === undefined ? undefined : this.#aim(vector, found, match)
    const length = aim === undefined ? 0 : lengthOf(aim.vector)

    const filter = this.#slotTable.filter(category, ceiling)
    const among = everything ?? this.#slotTable.among(category, ceiling, NARROW)
    const few = among === undefined || among.length > FEW ? undefined : among
    const isFiltered = category !== undefined || ceiling !== undefined
    const slots = new Set(
      few?.filter((slot) => this.#slotTable.admits(slot, filter)) ??
        (isFiltered ? this.#termIndex.candidates(wishes, { filter, most, among, match }) : found),
    )
    if (aim !== undefined && few === undefined) {
      for (const slot of this.#vectors.candidates(aim.vector, filter, Math.max(BY_VECTOR, limit), among))
        slots.add(slot)
    }
    const hits: Hit[] = []
    const share = aim?.share ?? 0
    const near = (slot: number) =>
      aim === undefined ? 0 : nearness(this.#vectors.cosine(slot, aim.vector, length))
    for (const slot of slots) {
      const whole = intentMatch(match(slot), near(slot), share)
      if (whole > 0)
        hits.push({
          key: this.#slotTable.keys[slot] as string,
          intentMatch: whole,
          rank: this.#slotTable.rank(slot),
        })
    }
    const score = (hit: Hit) => productScore(hit.intentMatch, hit.rank)
    const best = hits.sort((a, b) => score(b) - score(a) || (a.key < b.key ? -1 : 1)).slice(0, limit)
    const partsOf = (key: string) => {
      const slot = this.#slots.get(key) as number
      return { words: match(slot), near: near(slot) }
    }
    return { hits: best, share, partsOf }
  }

  /** The share of the query that a slot matches by words, cached per slot. */
  #matches(wishes: readonly Wish<number>[]): (slot: number) => number {
    const known = new Map<number, number>()
    return (slot) => {
      let match = known.get(slot)
      if (match === undefined) {
        match = wordMatch(wishes, this.#termIndex.worthsIn(slot))
        known.set(slot, match)
      }
      return match
    }
  }

  /** Shifts the query vector towards the best word matches of the whole catalogue, without filters. */
  #aim(vector: Vector, found: Iterable<number>, match: (slot: number) => number): Aim | undefined {
    const best = new Best(GUIDES, this.#slotTable.keys)
    for (const slot of found) {
      const words = match(slot)
      if (words > 0) best.offer(slot, words)
    }
    const guides = best
      .inOrder()
      .map(({ slot, score }) => ({ words: score, vector: this.#vectors.get(slot) }))
    return aimAt(vector, guides)
  }

  #read(intent: string): ReadWord[] {
    const { spelling } = this.#termIndex
    return wishesOf(intent, {
      size: this.size,
      users: (term: string) => this.#termIndex.users(term),
      heard: (term: string) => this.#termIndex.heard(term),
      similar: (word: string) => spelling.similar(word),
    })
  }

  /** The same wishes with the numbers of their terms. */
  #numbered(words: readonly ReadWord[]): Wish<number>[] {
    const { terms } = this.#termIndex
    return words.map(({ weight, ways }) => ({
      weight,
      ways: ways.map((way) => ({
        likeness: way.likeness,
        terms: way.terms.flatMap((text) => terms.get(text) ?? []),
      })),
    }))
  }
}

function same(a: Vector | undefined, b: Vector | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.length === b.length && a.every((value, i) => value === b[i])
}
