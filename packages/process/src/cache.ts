import { LRUCache } from 'lru-cache'

export interface CacheOptions<K, V> {
  keyOf: (key: K) => string
  load: (key: K) => Promise<V>
  /** For how many milliseconds a value is kept; 0: not at all. */
  ttlMs: (value: V) => number
  clock: () => number
  /** However much strangers make us load, the memory for it is bounded: what was not asked for for longest goes first. */
  max: number
  maxBytes?: number
  bytesOf?: (value: V) => number
}

/** Loads once for all who ask for the same, and keeps the value for a while. What fails is loaded again. */
export function createCache<K, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const { keyOf, load, ttlMs, clock, max, maxBytes = max, bytesOf = () => 1 } = options
  const cache = new LRUCache<string, Promise<V>>({
    max,
    maxSize: maxBytes,
    // The time is asked for with every look, for a clock that is passed in may jump.
    ttlResolution: 0,
    perf: { now: clock },
  })

  return (key) => {
    const name = keyOf(key)
    const known = cache.get(name)
    if (known) return known
    const loading = load(key)
    cache.set(name, loading, { size: 1 })
    const settled = (ttl: number, size: number) => {
      if (cache.peek(name) !== loading) return
      cache.delete(name)
      if (ttl > 0) cache.set(name, loading, { ttl, size })
    }
    loading.then(
      (value) => settled(ttlMs(value), Math.max(1, bytesOf(value))),
      () => settled(0, 1),
    )
    return loading
  }
}
