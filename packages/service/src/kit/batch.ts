export interface GatherOptions<K, V> {
  /** Keys that read the same are asked for once. */
  keyOf: (key: K) => string | number | bigint
  /** The answers in the order of the keys. */
  ask: (keys: K[]) => Promise<V[]>
  /** How many questions may be under way at once. More than one makes them smaller, and each costs the same. */
  flights?: number
  /** How many keys one question may have. */
  most?: number
}

interface Question<K, V> {
  key: K
  answer: Promise<V>
  resolve: (value: V) => void
  reject: (error: unknown) => void
}

/** A question that so many wait for is one of many: the next waits a little, so that it is for many too. */
const MANY = 16
const PAUSE_MS = 1

/**
 * Asks for many things at once: what is asked for while questions are under way goes out as one when the next is free. Under load this is
 * one statement for dozens of requests, and without load there is nothing to wait for. An answer is never older than its question.
 */
export function gather<K, V>({ keyOf, ask, flights = 1, most = 500 }: GatherOptions<K, V>) {
  let waiting = new Map<string | number | bigint, Question<K, V>>()
  let underWay = 0
  let scheduled = false
  let askers = 0
  let pausedUntil = 0

  function schedule(): void {
    if (scheduled || underWay >= flights || waiting.size === 0) return
    scheduled = true
    const go = () => {
      scheduled = false
      send()
    }
    const pause = pausedUntil - performance.now()
    if (pause > 0) setTimeout(go, pause)
    // After the requests that arrived in this turn of the event loop.
    else setImmediate(go)
  }

  function send(): void {
    if (askers >= MANY) pausedUntil = performance.now() + PAUSE_MS
    askers = 0
    let questions = [...waiting.values()]
    waiting = new Map()
    if (questions.length > most) {
      for (const question of questions.slice(most)) waiting.set(keyOf(question.key), question)
      questions = questions.slice(0, most)
    }
    underWay += 1
    settle(questions).finally(() => {
      underWay -= 1
      schedule()
    })
    schedule()
  }

  async function settle(questions: Question<K, V>[]): Promise<void> {
    try {
      const answers = await ask(questions.map(({ key }) => key))
      questions.forEach(({ resolve }, at) => {
        resolve(answers[at] as V)
      })
    } catch (error) {
      for (const { reject } of questions) reject(error)
    }
  }

  return (key: K): Promise<V> => {
    askers += 1
    const name = keyOf(key)
    let question = waiting.get(name)
    if (!question) {
      const { promise: answer, resolve, reject } = Promise.withResolvers<V>()
      question = { key, answer, resolve, reject }
      waiting.set(name, question)
      schedule()
    }
    return question.answer
  }
}
