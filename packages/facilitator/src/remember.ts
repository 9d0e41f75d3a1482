export interface RememberOptions<K, V> {
  keyOf: (key: K) => string
  ask: (key: K) => Promise<V>
  /** For how many milliseconds an answer holds. */
  forMs: (answer: V) => number
  /** However much strangers make us ask, the memory for it is bounded: the oldest questions go first. */
  most: number
  clock: () => number
}

/** Asks once for all who want to know the same, and remembers the answer for a while. What fails is asked again. */
export function remember<K, V>({
  keyOf,
  ask,
  forMs,
  most,
  clock,
}: RememberOptions<K, V>): (key: K) => Promise<V> {
  const known = new Map<string, { answer: Promise<V>; until: number }>()

  return (key) => {
    const name = keyOf(key)
    const found = known.get(name)
    if (found && clock() < found.until) return found.answer

    const entry = { answer: ask(key), until: Number.POSITIVE_INFINITY }
    known.delete(name)
    known.set(name, entry)
    if (known.size > most) known.delete(known.keys().next().value as string)
    entry.answer.then(
      (answer) => {
        entry.until = clock() + forMs(answer)
      },
      () => {
        if (known.get(name) === entry) known.delete(name)
      },
    )
    return entry.answer
  }
}
