import { createLoader } from '@referrer/process'

/**
 * Reads the same thing once for all who ask for it at the same time: one read is under way, and whoever asks meanwhile gets the next, which
 * begins when that one is done. An answer is never older than its question. Different keys do not wait for each other.
 */
export function coalesce<K, V>(
  keyOf: (key: K) => string,
  read: (key: K) => Promise<V>,
): (key: K) => Promise<V> {
  const underWay = new Map<string, { answer: Promise<V>; next?: Promise<V> }>()

  function begin(name: string, key: K): Promise<V> {
    const question: { answer: Promise<V>; next?: Promise<V> } = { answer: read(key) }
    underWay.set(name, question)
    const end = () => {
      if (!question.next) underWay.delete(name)
    }
    question.answer.then(end, end)
    return question.answer
  }

  return (key) => {
    const name = keyOf(key)
    const question = underWay.get(name)
    if (!question) return begin(name, key)
    const goOn = () => begin(name, key)
    question.next ??= question.answer.then(goOn, goOn)
    return question.next
  }
}

/** The same for reads that are heavy: so many keys may be under way at once, and the others wait for their turn. */
export const coalesceInTurns = <K, V>(
  concurrency: number,
  keyOf: (key: K) => string,
  read: (key: K) => Promise<V>,
): ((key: K) => Promise<V>) =>
  createLoader<K, V>({ keyOf, load: (keys) => Promise.all(keys.map(read)), maxBatch: 1, concurrency })
