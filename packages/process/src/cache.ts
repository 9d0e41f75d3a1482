import { LRUCache } from 'lru-cache'

export interface CacheOptions<K, V> {
  keyOf: (key: K) => string
  load: (key: K) => Promise<V>
  /** Time to live of a value in milliseconds; 0 means that the value is not cached. */
  ttlMs: (value: V) => number
  clock: () => number
  /** Memory limit in entries, because strangers choose the keys. The least recently used entry is evicted first. */
  max: number
  /** Memory limit in bytes; needs `bytesOf`. */
  maxBytes?: number
  bytesOf?: (value: V) => number
}

/** An LRU cache that coalesces concurrent loads of a key. A failed load is not cached. */
export function createCache<K, V>(options: CacheOptions<K, V>): (key: K) => Promise<V> {
  const { keyOf, load, ttlMs, clock, max, maxBytes = max, bytesOf = () => 1 } = options
  const cache = new LRUCache<string, Promise<V>>({
    max,
    maxSize: maxBytes,
    // The cache reads the clock at every lookup, because the clock of a test may jump.
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
