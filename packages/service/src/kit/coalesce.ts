import { gather } from './batch.ts'

/**
 * Answers the same question once for all who ask it at the same time: one is under way, and whoever asks meanwhile gets the answer to the
 * next, which begins when that one is done. An answer is never older than its question. Different questions do not wait for each other.
 */
export function share<K, V>(keyOf: (key: K) => string, ask: (key: K) => Promise<V>): (key: K) => Promise<V> {
  const underWay = new Map<string, { answer: Promise<V>; next?: Promise<V> }>()

  function begin(name: string, key: K): Promise<V> {
    const question: { answer: Promise<V>; next?: Promise<V> } = { answer: ask(key) }
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

/** The same for questions that are heavy: so many may be under way at once, and the others wait for their turn. */
export const shareInTurns = <K, V>(
  atOnce: number,
  keyOf: (key: K) => string,
  ask: (key: K) => Promise<V>,
): ((key: K) => Promise<V>) =>
  gather<K, V>({ keyOf, ask: (keys) => Promise.all(keys.map(ask)), most: 1, flights: atOnce })
