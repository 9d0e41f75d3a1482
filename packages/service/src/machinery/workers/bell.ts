/** Wakes one waiter. A ring while nobody waits is remembered for the next one. */
export class Bell {
  #isRung = false
  #wake: (() => void) | undefined

  ring(): void {
    this.#isRung = true
    this.#wake?.()
  }

  /** Resolves at the next ring, after `ms`, or when the signal fires. */
  async wait(ms: number, signal: AbortSignal): Promise<void> {
    if (!this.#isRung && !signal.aborted) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
        signal.addEventListener('abort', this.#wake, { once: true })
      })
      if (this.#wake) signal.removeEventListener('abort', this.#wake)
      this.#wake = undefined
    }
    this.#isRung = false
  }
}
