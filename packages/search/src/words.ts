import { Best } from './best.ts'
import { type Fields, Reader } from './document.ts'
import { Lists } from './lists.ts'
import type { Wish } from './question.ts'
import { productScore } from './ranker.ts'
import type { Filter, Shelf } from './shelf.ts'
import { Spelling } from './spelling.ts'
import { HEARD, STEPS, stepOf, Terms, WORTH_OF_STEP } from './terms.ts'

/** After so many entries only short lists are read, once there are enough candidates. */
const ENTRIES = 10_000
/** Then so many are looked at once more, by all their words. */
const RESCORED = 500
/** To see what a term is worth in a slot takes as long as to read so many entries. */
const ENTRIES_A_LOOK = 20
const MOST_ROUNDS = 2 ** 31 - 1

export interface Search {
  filter: Filter
  /** How many are wanted. */
  most: number
  /** Where all that is admitted is; undefined: anywhere. */
  among: readonly number[] | undefined
  match(slot: number): number
}

/** Which slots use which terms, both ways. */
export class Words {
  readonly terms = new Terms()
  readonly spelling = new Spelling()
  readonly #shelf: Shelf
  readonly #reader = new Reader(this.terms.ofWord)
  /** The slots that use each term, by how much it is worth there: a list for each step. */
  readonly #users = new Lists()
  /** The terms of each slot with what they are worth there, as number × 256 + worth, ascending. */
  readonly #uses = new Lists()
  /** The words of each slot, as spelling knows them. */
  readonly #spelt = new Lists()
  #slots = 0
  #scores = new Float32Array(1024)
  #seen = new Int32Array(1024)
  #round = 0

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  /** How many products use a term themselves. */
  users(text: string): number {
    const term = this.terms.get(text)
    let users = 0
    if (term !== undefined)
      for (let step = HEARD + 1; step < STEPS; step += 1) users += this.#users.length(term * STEPS + step)
    return users
  }

  /** Of how many only reviews use it, or of which it is hardly more than said. */
  heard(text: string): number {
    const term = this.terms.get(text)
    return term === undefined ? 0 : this.#users.length(term * STEPS + HEARD)
  }

  add(slot: number, fields: Fields): void {
    const uses: number[] = []
    const words = this.#reader.read(fields, (term, worth) => {
      this.#users.push(term * STEPS + stepOf(worth), slot)
      uses.push(term * 256 + worth)
    })
    this.#uses.put(slot, Uint32Array.from(uses).sort())
    this.#spelt.put(slot, this.spelling.add(words))
    this.#slots = Math.max(this.#slots, slot + 1)
  }

  remove(slot: number): void {
    this.spelling.remove(this.#spelt.of(slot))
    for (const use of this.#uses.of(slot)) {
      const term = use >>> 8
      this.#users.take(term * STEPS + stepOf(use & 255), slot)
      if (!this.#isUsed(term)) this.terms.forget(term)
    }
    this.#spelt.clear(slot)
    this.#uses.clear(slot)
  }

  worth(slot: number, term: number): number {
    const length = this.#uses.length(slot)
    if (length === 0) return 0
    const uses = this.#uses.array(slot)
    let low = this.#uses.start(slot)
    let high = low + length
    const end = high
    const wanted = term * 256
    while (low < high) {
      const middle = (low + high) >> 1
      if ((uses[middle] as number) < wanted) low = middle + 1
      else high = middle
    }
    const use = uses[low] as number
    return low < end && use >>> 8 === term ? (use & 255) / 255 : 0
  }

  /**
   * The slots that fulfil the most of the wishes, of all or among these, with their ranks counted in. Lists are read by what their entries
   * gain, the most first. `match` tells what a slot fulfils.
   */
  candidates(wishes: readonly Wish<number>[], { filter, most, among, match }: Search): Int32Array {
    const shelf = this.#shelf
    const gains = this.#gainsOf(wishes)
    const entries = gains.reduce((sum, { length }) => sum + length, 0)
    const looks = (among?.length ?? 0) * termsIn(wishes)
    if (among !== undefined && ENTRIES_A_LOOK * looks < entries) {
      const admitted = among.filter((slot) => shelf.admits(slot, filter))
      return this.#bestOf(admitted, match, most)
    }
    this.#startRound()
    const touched: number[] = []
    const seen = this.#seen
    const scores = this.#scores
    const round = this.#round
    let read = 0
    let isPartial = false
    for (const { list, length, gain } of gains) {
      if (read + length > ENTRIES && touched.length >= most) {
        isPartial = true
        continue
      }
      read += length
      const slots = this.#users.array(list)
      const start = this.#users.start(list)
      for (let at = start; at < start + length; at += 1) {
        const slot = slots[at] as number
        const state = seen[slot] as number
        if (state === round) scores[slot] = (scores[slot] as number) + gain
        else if (state !== -round) {
          const admitted = shelf.admits(slot, filter)
          seen[slot] = admitted ? round : -round
          scores[slot] = gain
          if (admitted) touched.push(slot)
        }
      }
    }
    const all = wishes.reduce((sum, wish) => sum + wish.weight, 0)
    const best = new Best(isPartial ? Math.max(RESCORED, most) : most, shelf.keys)
    for (const slot of touched)
      best.offer(slot, productScore((scores[slot] as number) / all, shelf.rank(slot)))
    return isPartial ? this.#bestOf(best.slots(), match, most) : best.slots()
  }

  /** By all that they are worth, lists that were left out included. */
  #bestOf(slots: Iterable<number>, match: (slot: number) => number, most: number): Int32Array {
    const best = new Best(most, this.#shelf.keys)
    for (const slot of slots) best.offer(slot, productScore(match(slot), this.#shelf.rank(slot)))
    return best.slots()
  }

  #startRound(): void {
    if (this.#seen.length < this.#slots || this.#round === MOST_ROUNDS) {
      this.#seen = new Int32Array(2 * this.#slots)
      this.#scores = new Float32Array(2 * this.#slots)
      this.#round = 0
    }
    this.#round += 1
  }

  #isUsed(term: number): boolean {
    for (let step = 0; step < STEPS; step += 1) if (this.#users.length(term * STEPS + step) > 0) return true
    return false
  }

  /** Every list that a wish leads to, with what an entry in it gains, the most first. */
  #gainsOf(wishes: readonly Wish<number>[]): { list: number; length: number; gain: number }[] {
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

const termsIn = (wishes: readonly Wish<number>[]): number =>
  wishes.reduce((sum, { ways }) => ways.reduce((terms, way) => terms + way.terms.length, sum), 0)
