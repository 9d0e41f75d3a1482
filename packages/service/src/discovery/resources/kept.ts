// Answers of others, kept for a while, so that they are not asked the same again and again.

interface Kept<V> {
  answer: Promise<V | undefined>
  askedAt: number
  bytes: number
}

export interface KeepOptions<V> {
  clock: () => number
  /** How long an answer counts. */
  forMs: number
  most: number
  mostBytes: number
  bytesOf: (answer: V) => number
}

/** Whoever asks while the same is being asked gets the same answer. The oldest are forgotten first; undefined and failures at once. */
export function keepAnswers<V>({ clock, forMs, most, mostBytes, bytesOf }: KeepOptions<V>) {
  const kept = new Map<string, Kept<V>>()
  let bytes = 0

  function forget(name: string, entry: Kept<V>): void {
    if (kept.get(name) !== entry) return
    kept.delete(name)
    bytes -= entry.bytes
  }

  function makeRoom(): void {
    for (const [name, entry] of kept) {
      if (kept.size <= most && bytes <= mostBytes) return
      forget(name, entry)
    }
  }

  function weigh(name: string, entry: Kept<V>, answer: V | undefined): void {
    if (answer === undefined) forget(name, entry)
    else if (kept.get(name) === entry) {
      entry.bytes = bytesOf(answer)
      bytes += entry.bytes
      makeRoom()
    }
  }

  return (name: string, ask: () => Promise<V | undefined>): Promise<V | undefined> => {
    const known = kept.get(name)
    if (known && clock() - known.askedAt < forMs) return known.answer
    if (known) forget(name, known)
    const entry: Kept<V> = { answer: ask(), askedAt: clock(), bytes: 0 }
    kept.set(name, entry)
    makeRoom()
    entry.answer.then(
      (answer) => weigh(name, entry, answer),
      () => forget(name, entry),
    )
    return entry.answer
  }
}
