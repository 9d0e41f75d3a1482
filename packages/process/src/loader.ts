export interface LoaderOptions<K, V> {
  /** Keys with the same name are loaded once. */
  keyOf: (key: K) => string | number | bigint
  /** The values in the order of the keys. */
  load: (keys: K[]) => Promise<V[]>
  /** How many batches may be under way at once. More than one makes them smaller, and each costs the same. */
  concurrency?: number
  /** How many keys one batch may have. */
  maxBatch?: number
}

interface Waiting<K, V> extends PromiseWithResolvers<V> {
  key: K
}

/** After a batch that so many asked for, the next waits a little, so that it is for many too. */
const MANY = 16
const PAUSE_MS = 1

/**
 * Loads many keys at once: what is asked for while `concurrency` batches are under way goes out as the next batch. Under load this is one
 * statement for dozens of requests, and without load there is nothing to wait for. A value is never older than the question for it.
 *
 * The package `dataloader` sends a batch with every turn of the event loop, however many are under way, and keeps values until they are cleared.
 */
export function createLoader<K, V>({ keyOf, load, concurrency = 1, maxBatch = 500 }: LoaderOptions<K, V>) {
  let waiting = new Map<string | number | bigint, Waiting<K, V>>()
  let underWay = 0
  let scheduled = false
  let askers = 0
  let pausedUntil = 0

  function schedule(): void {
    if (scheduled || underWay >= concurrency || waiting.size === 0) return
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
    const all = [...waiting]
    waiting = new Map(all.slice(maxBatch))
    underWay += 1
    settle(all.slice(0, maxBatch).map(([, each]) => each)).finally(() => {
      underWay -= 1
      schedule()
    })
    schedule()
  }

  async function settle(batch: Waiting<K, V>[]): Promise<void> {
    try {
      const values = await load(batch.map(({ key }) => key))
      for (const [at, { resolve }] of batch.entries()) resolve(values[at] as V)
    } catch (error) {
      for (const { reject } of batch) reject(error)
    }
  }

  return (key: K): Promise<V> => {
    askers += 1
    const name = keyOf(key)
    let found = waiting.get(name)
    if (!found) {
      found = { key, ...Promise.withResolvers<V>() }
      waiting.set(name, found)
      schedule()
    }
    return found.promise
  }
}
