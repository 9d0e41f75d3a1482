import { createLoader } from '@referrer/process'

/**
 * Coalesces reads of the same key: one read runs at a time, and all calls that come meanwhile share the next one, which starts when the
 * running one ends. So an answer is always read after it was asked for. Different keys do not wait for each other.
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

/** Coalesces heavy reads: at most `concurrency` keys are read at once, and the others wait in a queue. */
export const coalesceInTurns = <K, V>(
  concurrency: number,
  keyOf: (key: K) => string,
  read: (key: K) => Promise<V>,
): ((key: K) => Promise<V>) =>
  createLoader<K, V>({ keyOf, load: (keys) => Promise.all(keys.map(read)), maxBatch: 1, concurrency })
