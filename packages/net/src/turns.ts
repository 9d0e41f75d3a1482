/** Limits concurrency: at most this many run at once, the others wait in order of arrival. */
export function createTurns(most: number) {
  const waiting: (() => void)[] = []
  let atWork = 0

  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (atWork < most) atWork += 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else atWork -= 1
    }
  }
}
