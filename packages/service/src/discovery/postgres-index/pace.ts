// How far something long is: a first load of a million products takes many minutes, and its log says how many are left.

/** Often enough for somebody who waits. */
const TELL_MS = 15_000

const number = (value: number) => Math.round(value).toLocaleString('en')

const duration = (seconds: number): string => {
  if (seconds < 90) return `about ${number(seconds)} s left`
  return `about ${number(seconds / 60)} min left`
}

/** Tells once in a while how much of `total` is done, at which rate, and how long the rest takes at this rate. */
export class Pace {
  readonly #total: number
  readonly #tell: (line: string) => void
  readonly #now: () => number
  readonly #begun: number
  #told: number

  constructor(total: number, tell: (line: string) => void, now = () => performance.now()) {
    this.#total = total
    this.#tell = tell
    this.#now = now
    this.#begun = now()
    this.#told = this.#begun
  }

  reached(done: number): void {
    const now = this.#now()
    if (now - this.#told < TELL_MS) return
    this.#told = now
    const rate = done / ((now - this.#begun) / 1_000)
    // What is added meanwhile may exceed the total.
    const left = Math.max(0, this.#total - done)
    this.#tell(
      `${number(done)} of ${number(done + left)}, ${number(rate)} a second${rate > 0 ? `, ${duration(left / rate)}` : ''}`,
    )
  }
}
