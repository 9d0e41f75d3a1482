/** Work in turns: so many at once, the others in the order in which they came. */
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
