export interface LoaderOptions<K, V> {
  /** Keys with the same result are loaded once in a batch. */
  keyOf: (key: K) => string | number | bigint
  /** Loads a batch and returns the values in the order of the keys. */
  load: (keys: K[]) => Promise<V[]>
  /** How many batches may run at once. More than one makes the batches smaller, while each costs about the same. */
  concurrency?: number
  /** The largest number of keys in a batch. */
  maxBatch?: number
}

interface Waiting<K, V> extends PromiseWithResolvers<V> {
  key: K
}

/** After a batch that served at least this many calls, the next one waits `PAUSE_MS`, so that it serves many calls too. */
const MANY_CALLS = 16
const PAUSE_MS = 1

/**
 * A batch loader. Keys that are asked for while `concurrency` batches run are collected for the next batch: under load one SQL statement
 * serves dozens of requests, and without load no call waits. A value is always read after it was asked for; nothing is cached.
 *
 * The package `dataloader` does not fit: it sends a batch in every turn of the event loop however many are running, and caches values
 * until they are cleared.
 */
export function createLoader<K, V>({ keyOf, load, concurrency = 1, maxBatch = 500 }: LoaderOptions<K, V>) {
  let waiting = new Map<string | number | bigint, Waiting<K, V>>()
  let underWay = 0
  let scheduled = false
  let calls = 0
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
    // Runs after the requests that arrived in this turn of the event loop, so that they share the batch.
    else setImmediate(go)
  }

  function send(): void {
    if (calls >= MANY_CALLS) pausedUntil = performance.now() + PAUSE_MS
    calls = 0
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
    calls += 1
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
