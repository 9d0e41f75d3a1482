import { Best } from './best.ts'
import { documentIn, type Fields, isHearsay, worthOf } from './document.ts'
import type { Wish } from './question.ts'
import { productScore } from './ranker.ts'
import type { Filter, Shelf } from './shelf.ts'
import { Spelling } from './spelling.ts'
import { Slots, stepOf, type Term, Terms, WORTH_OF_STEP } from './terms.ts'

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

/** Which slots use which terms, both ways. Lists are cleaned when half of one is stale; a slot is free again when the last list has let go of it. */
export class Words {
  readonly terms = new Terms()
  readonly spelling = new Spelling()
  readonly #shelf: Shelf
  /** The terms of each slot with what they are worth there, as number × 256 + worth, ascending. */
  readonly #uses: (Uint32Array | undefined)[] = []
  /** The words of each slot, as spelling knows them. */
  readonly #spelt: (Uint32Array | undefined)[] = []
  /** In how many lists a slot stands. */
  readonly #listed: number[] = []
  #scores = new Float32Array(1024)
  #seen = new Int32Array(1024)
  #round = 0

  constructor(shelf: Shelf) {
    this.#shelf = shelf
  }

  add(slot: number, fields: Fields): void {
    const { impacts, words } = documentIn(fields, this.terms.ofWord)
    this.#spelt[slot] = this.spelling.add(words)
    const uses = new Uint32Array(impacts.size)
    let at = 0
    for (const [term, impact] of impacts) {
      const worth = worthOf(impact)
      count(term, worth, 1)
      const step = stepOf(worth)
      const list = term.steps[step] ?? new Slots()
      list.push(slot)
      term.steps[step] = list
      uses[at] = term.id * 256 + worth
      at += 1
    }
    this.#uses[slot] = uses.sort()
    this.#listed[slot] = impacts.size
  }

  remove(slot: number): void {
    const uses = this.#uses[slot] ?? new Uint32Array(0)
    this.#uses[slot] = undefined
    this.spelling.remove(this.#spelt[slot] ?? new Uint32Array(0))
    this.#spelt[slot] = undefined
    if (uses.length === 0) this.#shelf.free(slot)
    for (const use of uses) {
      const term = this.terms.at(use >>> 8)
      count(term, use & 255, -1)
      const step = stepOf(use & 255)
      const list = term.steps[step] as Slots
      list.stale += 1
      if (2 * list.stale >= list.length) this.#clean(term, step, list)
      if (term.users + term.heard === 0) this.terms.forget(term)
    }
  }

  worth(slot: number, term: number): number {
    const uses = this.#uses[slot]
    if (uses === undefined) return 0
    let low = 0
    let high = uses.length
    const wanted = term * 256
    while (low < high) {
      const middle = (low + high) >> 1
      if ((uses[middle] as number) < wanted) low = middle + 1
      else high = middle
    }
    const use = uses[low]
    return use !== undefined && use >>> 8 === term ? (use & 255) / 255 : 0
  }

  /**
   * The slots that fulfil the most of the wishes, of all or among these, with their ranks counted in. Lists are read by what their entries
   * gain, the most first. `match` tells what a slot fulfils.
   */
  candidates(wishes: readonly Wish<Term>[], { filter, most, among, match }: Search): Int32Array {
    const shelf = this.#shelf
    const gains = gainsOf(wishes)
    // Without what is stale: which lists are read must not depend on what there once was.
    const entries = gains.reduce((sum, { list }) => sum + list.length - list.stale, 0)
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
    for (const { list, gain } of gains) {
      const { slots, length } = list
      if (read + length - list.stale > ENTRIES && touched.length >= most) {
        isPartial = true
        continue
      }
      read += length - list.stale
      for (let i = 0; i < length; i += 1) {
        const slot = slots[i] as number
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
    if (this.#seen.length < this.#uses.length || this.#round === MOST_ROUNDS) {
      this.#seen = new Int32Array(2 * this.#uses.length)
      this.#scores = new Float32Array(2 * this.#uses.length)
      this.#round = 0
    }
    this.#round += 1
  }

  #clean(term: Term, step: number, list: Slots): void {
    let kept = 0
    for (let i = 0; i < list.length; i += 1) {
      const slot = list.slots[i] as number
      if (this.#uses[slot] !== undefined) {
        list.slots[kept] = slot
        kept += 1
      } else {
        const listed = (this.#listed[slot] as number) - 1
        this.#listed[slot] = listed
        if (listed === 0) this.#shelf.free(slot)
      }
    }
    list.length = kept
    list.stale = 0
    if (kept === 0) term.steps[step] = undefined
    else if (4 * kept < list.slots.length) list.slots = list.slots.slice(0, 2 * kept)
  }
}

const termsIn = (wishes: readonly Wish<Term>[]): number =>
  wishes.reduce((sum, { ways }) => ways.reduce((terms, way) => terms + way.terms.length, sum), 0)

/** Every list that a wish leads to, with what an entry in it gains, the most first. */
function gainsOf(wishes: readonly Wish<Term>[]): { list: Slots; gain: number }[] {
  const gains = wishes.flatMap(({ weight, ways }) =>
    ways.flatMap(({ terms, likeness }) =>
      terms.flatMap((term) =>
        term.steps.flatMap((list, step) =>
          list === undefined
            ? []
            : [{ list, gain: (weight * likeness * (WORTH_OF_STEP[step] as number)) / terms.length }],
        ),
      ),
    ),
  )
  return gains.sort((a, b) => b.gain - a.gain)
}

/** It may be known from reviews alone. */
export function count(term: Term, worth: number, change: 1 | -1): void {
  if (isHearsay(worth)) term.heard += change
  else term.users += change
}
