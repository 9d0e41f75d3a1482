import { Best } from './best.ts'
import { type Fields, Reader } from './document.ts'
import { Lists } from './lists.ts'
import type { Wish } from './question.ts'
import { productScore } from './ranker.ts'
import type { Filter, Shelf } from './shelf.ts'
import { Spelling } from './spelling.ts'
import { HEARD, STEPS, stepOf, Terms, WORTH_OF_STEP } from './terms.ts'

/** After so many entries only short lists bring candidates, once there are enough. */
const ENTRIES = 10_000
/** The best by their lists, so many, are measured exactly. */
const RESCORED = 500
/** To see what a term is worth in a slot takes as long as to read so many entries. */
const ENTRIES_A_LOOK = 20
const MOST_ROUNDS = 2 ** 31 - 1
const USE = 256
const NONE = new Uint32Array(0)

export interface Search {
  filter: Filter
  /** How many are wanted. */
  most: number
  /** Where all that is admitted is; undefined: anywhere. */
  among: readonly number[] | undefined
  match(slot: number): number
}

/** A list, and what an entry in it gains. */
interface Gain {
  list: number
  length: number
  gain: number
}

/** Which slots use which terms, both ways. */
export class Words {
  readonly terms = new Terms()
  readonly spelling = new Spelling()
  readonly #shelf: Shelf
  readonly #reader = new Reader(this.terms.ofWord)
  /** The slots that use each term, by how much it is worth there: a list for each step. */
  readonly #users = new Lists()
  /** The terms of each slot with what they are worth there, as number × USE + worth, ascending: there can be 2^24 terms. */
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

  /** Of how many only reviews use it, or they themselves so little that it comes to the same. */
  heard(text: string): number {
    const term = this.terms.get(text)
    return term === undefined ? 0 : this.#users.length(term * STEPS + HEARD)
  }

  /** New or changed; lists that a slot stands in and shall stand in are left alone. */
  put(slot: number, fields: Fields): void {
    const uses: number[] = []
    const words = this.#reader.read(fields, (term, worth) => uses.push(term * USE + worth))
    const spelt = this.spelling.add(words)
    this.#change(slot, Uint32Array.from(uses).sort(), spelt)
    this.#slots = Math.max(this.#slots, slot + 1)
  }

  remove(slot: number): void {
    this.#change(slot, NONE, NONE)
  }

  #change(slot: number, uses: Uint32Array, spelt: Uint32Array): void {
    // Both ascending.
    const before = this.#uses.of(slot).map(listOf)
    const left: number[] = []
    let at = 0
    for (const use of uses) {
      const list = listOf(use)
      for (; (before[at] as number) < list; at += 1) left.push(before[at] as number)
      if (before[at] === list) at += 1
      else this.#users.push(list, slot)
    }
    for (const list of [...left, ...before.subarray(at)]) {
      this.#users.take(list, slot)
      const term = Math.floor(list / STEPS)
      if (!this.#isUsed(term)) this.terms.forget(term)
    }
    this.#uses.put(slot, uses)
    this.spelling.remove(this.#spelt.of(slot))
    this.#spelt.put(slot, spelt)
  }

  worth(slot: number, term: number): number {
    const length = this.#uses.length(slot)
    if (length === 0) return 0
    const uses = this.#uses.array(slot)
    let low = this.#uses.start(slot)
    let high = low + length
    const end = high
    const wanted = term * USE
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
    const unread: Gain[] = []
    let read = 0
    for (const gain of gains) {
      if (read + gain.length > ENTRIES && touched.length >= most) unread.push(gain)
      else {
        read += gain.length
        this.#touch(gain, filter, touched)
      }
    }
    // These bring nobody new, but they tell who of the touched has it all.
    const toRead = unread.reduce((sum, { length }) => sum + length, 0)
    if (ENTRIES_A_LOOK * touched.length * termsIn(wishes) < toRead) return this.#bestOf(touched, match, most)
    for (const gain of unread) this.#gain(gain)
    const all = wishes.reduce((sum, wish) => sum + wish.weight, 0)
    const best = new Best(Math.max(RESCORED, most), shelf.keys)
    for (const slot of touched)
      best.offer(slot, productScore((this.#scores[slot] as number) / all, shelf.rank(slot)))
    return this.#bestOf(best.slots(), match, most)
  }

  /** Each in a list gains; who is met for the first time and admitted is touched. */
  #touch({ list, length, gain }: Gain, filter: Filter, touched: number[]): void {
    const [seen, scores, round] = [this.#seen, this.#scores, this.#round]
    const slots = this.#users.array(list)
    const start = this.#users.start(list)
    for (let at = start; at < start + length; at += 1) {
      const slot = slots[at] as number
      const state = seen[slot] as number
      if (state === round) scores[slot] = (scores[slot] as number) + gain
      else if (state !== -round) {
        const admitted = this.#shelf.admits(slot, filter)
        seen[slot] = admitted ? round : -round
        scores[slot] = gain
        if (admitted) touched.push(slot)
      }
    }
  }

  /** The touched in a list gain. */
  #gain({ list, length, gain }: Gain): void {
    const [seen, scores, round] = [this.#seen, this.#scores, this.#round]
    const slots = this.#users.array(list)
    const start = this.#users.start(list)
    for (let at = start; at < start + length; at += 1) {
      const slot = slots[at] as number
      if (seen[slot] === round) scores[slot] = (scores[slot] as number) + gain
    }
  }

  /** By what they are worth exactly; lists know it by steps. */
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
