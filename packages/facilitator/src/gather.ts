export interface GatherOptions<K, V> {
  keyOf: (key: K) => string
  /** Answers in the order of the questions. */
  ask: (keys: K[]) => Promise<V[]>
  /** How many questions are asked together at most. */
  most: number
}

interface Waiting<K, V> extends PromiseWithResolvers<V> {
  key: K
}

/**
 * Asks for all who want to know something together, and once at a time: what comes meanwhile is asked next. So no answer is older than its
 * question, and however many ask, whoever answers is asked one thing at a time.
 */
export function gather<K, V>({ keyOf, ask, most }: GatherOptions<K, V>): (key: K) => Promise<V> {
  const waiting = new Map<string, Waiting<K, V>>()
  let isAsking = false

  async function askAll(): Promise<void> {
    isAsking = true
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, most)
      for (const [name] of asked) waiting.delete(name)
      try {
        const answers = await ask(asked.map(([, { key }]) => key))
        for (const [at, [, { resolve }]] of asked.entries()) resolve(answers[at] as V)
      } catch (error) {
        for (const [, { reject }] of asked) reject(error)
      }
    }
    isAsking = false
  }

  return (key) => {
    const name = keyOf(key)
    const found = waiting.get(name) ?? { key, ...Promise.withResolvers<V>() }
    waiting.set(name, found)
    if (!isAsking) void askAll()
    return found.promise
  }
}
