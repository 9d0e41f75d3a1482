import { grown } from './numbers.ts'

/**
 * The slots that a question came upon, with scores. A bit for each slot says whether it is there: the bits of a large catalogue fit into the
 * processor's nearest cache, and what belongs to the slots stands side by side. An array of scores by slot would cost a fetch from memory
 * for each entry of a list.
 */
export class Touched {
  count = 0
  /** In the order in which they came, as far as `count`. */
  slots = new Uint32Array(1024)
  scores = new Float32Array(1024)
  #bits = new Int32Array(32)
  /** By slot: its place in the two arrays, if its bit is set. */
  #places = new Uint32Array(1024)

  /** Forgets everything; slots will be lower than `end`. */
  start(end: number): void {
    for (let i = 0; i < this.count; i += 1) this.#bits[(this.slots[i] as number) >>> 5] = 0
    this.count = 0
    if (end <= this.#places.length) return
    this.#places = new Uint32Array(2 * end)
    this.#bits = new Int32Array((2 * end + 31) >>> 5)
  }

  has(slot: number): boolean {
    return ((this.#bits[slot >>> 5] as number) & (1 << (slot & 31))) !== 0
  }

  /** Adds a slot that is not there. */
  add(slot: number, score: number): void {
    const place = this.count
    if (place === this.slots.length) {
      this.slots = grown(this.slots, new Uint32Array(2 * place))
      this.scores = grown(this.scores, new Float32Array(2 * place))
    }
    this.slots[place] = slot
    this.scores[place] = score
    this.#places[slot] = place
    this.#bits[slot >>> 5] = (this.#bits[slot >>> 5] as number) | (1 << (slot & 31))
    this.count = place + 1
  }

  /** Adds to the score of a slot that is there. */
  gain(slot: number, score: number): void {
    const place = this.#places[slot] as number
    this.scores[place] = (this.scores[place] as number) + score
  }
}
