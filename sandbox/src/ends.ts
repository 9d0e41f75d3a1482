/** What was started, to be ended in the opposite order. */
export interface Ends {
  /** Starts something that is ended with the rest, also when the end comes while it starts. A start that fails has ended what it began. */
  add<T>(start: () => Promise<T>, end: (started: T) => Promise<unknown>): Promise<T>
  /** Ends everything; returns what went wrong with that. */
  all(): Promise<unknown[]>
}

export function createEnds(): Ends {
  const ends: (() => Promise<unknown>)[] = []
  let isEnding = false
  return {
    async add(start, end) {
      if (isEnding) throw new Error('the sandbox is ending')
      const starting = start()
      const ended = starting.then(
        (started) => () => end(started),
        () => async () => {},
      )
      ends.unshift(async () => (await ended)())
      return starting
    },
    async all() {
      isEnding = true
      const problems: unknown[] = []
      for (const end of ends) await end().catch((error: unknown) => problems.push(error))
      return problems
    },
  }
}
