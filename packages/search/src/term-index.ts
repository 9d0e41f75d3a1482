import type { Arrays, Written } from './arrays.ts'
import { Best } from './best.ts'
import { type Fields, Reader } from './document.ts'
import { Lists } from './lists.ts'
import { Numbers } from './numbers.ts'
import { Packing } from './packing.ts'
import type { Wish } from './question.ts'
import { productScore } from './ranker.ts'
import { ANY, type Filter, type Slots, type SlotTable } from './slot-table.ts'
import { Spelling } from './spelling.ts'
import { HEARD, STEPS, stepOf, Terms, WORTH_OF_STEP } from './terms.ts'
import { Touched } from './touched.ts'

/** After reading this many entries, a list that would exceed the limit adds no candidates, once there are enough. */
const ENTRIES = 10_000
/** How many of the best by approximate score are scored exactly. */
const RESCORED = 500
/** Looking up the score of a term in a slot costs as much as reading this many entries. */
const ENTRIES_A_LOOK = 20
const USE = 256
/** How many slots are read in a few milliseconds. */
const SLOTS_A_TURN = 250
const NONE = new Uint32Array(0)

export interface Search {
  filter: Filter
  /** The number of candidates to return. */
  most: number
  /** A superset of the slots that pass the filter; undefined for all. */
  among: Slots | undefined
  match(slot: number): number
}

/** A posting list, and what it adds to the score of each of its slots. */
interface Gain {
  list: number
  length: number
  gain: number
}

/** The inverted index (slots by term) and the forward index (terms by slot). */
export class TermIndex {
  readonly terms = new Terms()
  readonly spelling = new Spelling(this.terms.words)
  readonly #slotTable: SlotTable
  readonly #reader = new Reader(this.terms)
  /** The inverted index: for each term one posting list per score class. */
  readonly #users = new Lists()
  /** The forward index: the terms of each slot as term × USE + score, ascending; at most 2^24 terms. */
  readonly #uses = new Lists()
  /** The words of each slot that the spelling index counts, packed: they are read only when the slot changes. */
  readonly #spelt = new Lists()
  readonly #packing = new Packing()
  readonly #oldSpelt = new Numbers()
  readonly #newUses = new Numbers()
  readonly #newSpelt = new Numbers()
  #slots = 0
  #isFilling = false
  readonly #touched = new Touched()

  constructor(slotTable: SlotTable) {
    this.#slotTable = slotTable
  }

  /** How many products use a term in their own text. */
  users(text: string): number {
    const term = this.terms.get(text)
    let users = 0
    if (term !== undefined)
      for (let step = HEARD + 1; step < STEPS; step += 1) users += this.#users.length(term * STEPS + step)
    return users
  }

  /** How many products have a term only in reviews, or with as low a score. */
  heard(text: string): number {
    const term = this.terms.get(text)
    return term === undefined ? 0 : this.#users.length(term * STEPS + HEARD)
  }

  /** Adds or updates a slot; posting lists that already contain it are left unchanged. */
  put(slot: number, fields: Fields): void {
    const [uses, spelt] = [this.#newUses, this.#newSpelt]
    uses.length = spelt.length = 0
    const words = this.#reader.read(fields, (term, worth) => uses.push(term * USE + worth))
    for (const word of words) if (this.spelling.counts(word)) spelt.push(word)
    this.#change(slot, uses.view().sort(), spelt.view().sort())
    this.#slots = Math.max(this.#slots, slot + 1)
  }

  remove(slot: number): void {
    this.#change(slot, NONE, NONE)
  }

  /** To be called after much has been added. */
  pack(): void {
    this.spelling.pack()
  }

  /** Until `finish`, only the forward index is kept; the inverted one is made of it at once, which is cheaper than entry by entry. */
  start(): void {
    this.#isFilling = true
  }

  /** `turn` is called now and then, and awaited. */
  async finish(turn: () => Promise<void>): Promise<void> {
    const lengths = new Uint32Array(STEPS * this.terms.end)
    await this.#eachUse(turn, (list) => {
      lengths[list] = (lengths[list] as number) + 1
    })
    for (let list = 0; list < lengths.length; list += 1) this.#users.reserve(list, lengths[list] as number)
    await this.#eachUse(turn, (list, slot) => {
      const left = (lengths[list] as number) - 1
      lengths[list] = left
      this.#users.array(list)[this.#users.start(list) + left] = slot
    })
    for (const term of this.terms.all()) if (!this.#isUsed(term)) this.terms.forget(term)
    this.#isFilling = false
  }

  *written(): Written {
    yield Uint32Array.of(this.#slots)
    yield* this.terms.written()
    yield* this.spelling.written()
    yield* this.#users.written()
    yield* this.#uses.written()
    yield* this.#spelt.written()
  }

  async restore(arrays: Arrays): Promise<void> {
    ;[this.#slots = 0] = await arrays.next(Uint32Array)
    await this.terms.restore(arrays)
    await this.spelling.restore(arrays)
    await this.#users.restore(arrays)
    await this.#uses.restore(arrays)
    await this.#spelt.restore(arrays)
  }

  async #eachUse(turn: () => Promise<void>, look: (list: number, slot: number) => void): Promise<void> {
    for (let slot = 0; slot < this.#slots; slot += 1) {
      const length = this.#uses.length(slot)
      if (length > 0) {
        const [uses, start] = [this.#uses.array(slot), this.#uses.start(slot)]
        for (let at = start; at < start + length; at += 1) look(listOf(uses[at] as number), slot)
      }
      if (slot % SLOTS_A_TURN === 0) await turn()
    }
  }

  #change(slot: number, uses: Uint32Array, spelt: Uint32Array): void {
    // Before any word is forgotten with its term; words that stay are counted all the time.
    this.spelling.add(spelt)
    this.spelling.remove(this.#packing.unpack(this.#spelt.of(slot), this.#oldSpelt))
    this.#spelt.put(slot, this.#packing.pack(spelt))
    if (!this.#isFilling) this.#changeUsers(slot, uses)
    this.#uses.put(slot, uses)
  }

  #changeUsers(slot: number, uses: Uint32Array): void {
    // Both are in ascending order, so one merge finds the differences.
    const before = this.#uses.of(slot).map(listOf)
    const left: number[] = []
    let at = 0
    for (const use of uses) {
      const list = listOf(use)
      for (; (before[at] as number) < list; at += 1) left.push(before[at] as number)
      if (before[at] === list) at += 1
      else this.#users.push(list, slot)
    }
    for (; at < before.length; at += 1) left.push(before[at] as number)
    for (const list of left) {
      this.#users.take(list, slot)
      const term = Math.floor(list / STEPS)
      if (!this.#isUsed(term)) this.terms.forget(term)
    }
  }

  /** What each term is worth in a slot; valid until the next change. */
  worthsIn(slot: number): (term: number) => number {
    const length = this.#uses.length(slot)
    if (length === 0) return () => 0
    const uses = this.#uses.array(slot)
    const start = this.#uses.start(slot)
    const end = start + length
    return (term) => {
      let low = start
      let high = end
      const wanted = term * USE
      while (low < high) {
        const middle = (low + high) >> 1
        if ((uses[middle] as number) < wanted) low = middle + 1
        else high = middle
      }
      const use = uses[low] as number
      return low < end && use >>> 8 === term ? (use & 255) / 255 : 0
    }
  }

  /**
   * The slots with the best scores (word match and rank), among all or among these. Posting lists are read in descending order of what they
   * add. `match` returns the exact word match of a slot.
   */
  candidates(wishes: readonly Wish<number>[], { filter, most, among, match }: Search): Int32Array {
    const slotTable = this.#slotTable
    const gains = this.#gainsOf(wishes)
    const entries = gains.reduce((sum, { length }) => sum + length, 0)
    const looks = (among?.length ?? 0) * termsIn(wishes)
    if (among !== undefined && ENTRIES_A_LOOK * looks < entries) {
      const admitted = among.filter((slot) => slotTable.admits(slot, filter))
      return this.#bestOf(admitted, match, most)
    }
    const touched = this.#touched
    touched.start(this.#slots)
    const unread: Gain[] = []
    let read = 0
    for (const gain of gains) {
      if (read + gain.length > ENTRIES && touched.count >= most) unread.push(gain)
      else {
        read += gain.length
        this.#touch(gain, filter)
      }
    }
    // The remaining lists add no candidates, but complete the scores of those found.
    const toRead = unread.reduce((sum, { length }) => sum + length, 0)
    if (ENTRIES_A_LOOK * touched.count * termsIn(wishes) < toRead)
      return this.#bestOf(touched.slots.subarray(0, touched.count), match, most)
    for (const gain of unread) this.#gain(gain)
    const all = wishes.reduce((sum, wish) => sum + wish.weight, 0)
    const best = new Best(Math.max(RESCORED, most), slotTable.keys)
    for (let i = 0; i < touched.count; i += 1) {
      const words = (touched.scores[i] as number) / all
      // Most are too bad even with the highest rank: theirs need not be fetched from memory.
      if (!best.admits(productScore(words, 1))) continue
      const slot = touched.slots[i] as number
      best.offer(slot, productScore(words, slotTable.rank(slot)))
    }
    return this.#bestOf(best.slots(), match, most)
  }

  /** Adds to the score of each slot in the list; a slot that is new and passes the filter becomes a candidate. */
  #touch({ list, length, gain }: Gain, filter: Filter): void {
    const [touched, slotTable] = [this.#touched, this.#slotTable]
    const slots = this.#users.array(list)
    const start = this.#users.start(list)
    for (let at = start; at < start + length; at += 1) {
      const slot = slots[at] as number
      if (touched.has(slot)) touched.gain(slot, gain)
      // Lists hold nothing but products: without a filter there is nothing to look at.
      else if (filter === ANY || slotTable.admits(slot, filter)) touched.add(slot, gain)
    }
  }

  /** Adds to the scores of the candidates in the list. */
  #gain({ list, length, gain }: Gain): void {
    const touched = this.#touched
    const slots = this.#users.array(list)
    const start = this.#users.start(list)
    for (let at = start; at < start + length; at += 1) {
      const slot = slots[at] as number
      if (touched.has(slot)) touched.gain(slot, gain)
    }
  }

  /** The best by exact score; posting lists only know score classes. */
  #bestOf(slots: Iterable<number>, match: (slot: number) => number, most: number): Int32Array {
    const best = new Best(most, this.#slotTable.keys)
    for (const slot of slots) best.offer(slot, productScore(match(slot), this.#slotTable.rank(slot)))
    return best.slots()
  }

  #isUsed(term: number): boolean {
    for (let step = 0; step < STEPS; step += 1) if (this.#users.length(term * STEPS + step) > 0) return true
    return false
  }

  /** All posting lists of the query, in descending order of what they add to a score. */
  #gainsOf(wishes: readonly Wish<number>[]): Gain[] {
    const gains = wishes.flatMap(({ weight, ways }) =>
      ways.flatMap(({ terms, likeness }) =>
        terms.flatMap((term) =>
          WORTH_OF_STEP.map((worth, step) => {
            const list = term * STEPS + step
            return {
              list,
              length: this.#users.length(list),
              gain: (weight * likeness * worth) / terms.length,
            }
          }),
        ),
      ),
    )
    return gains.filter(({ length }) => length > 0).sort((a, b) => b.gain - a.gain)
  }
}

const listOf = (use: number): number => (use >>> 8) * STEPS + stepOf(use & 255)

const termsIn = (wishes: readonly Wish<number>[]): number =>
  wishes.reduce((sum, { ways }) => ways.reduce((terms, way) => terms + way.terms.length, sum), 0)
