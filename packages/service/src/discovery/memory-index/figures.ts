import { Gauge, Histogram, type Registry } from 'prom-client'
import type { Context } from '../../kit/context.ts'
import { searchState } from './client.ts'

/** Adds metrics of the search index. Gauges are read when the metrics are scraped. */
export function addSearchFigures(context: Context, registry: Registry): void {
  const state = searchState(context)
  const registers = [registry]
  const perChain = (name: string, help: string, of: 'products' | 'vectors') =>
    new Gauge({
      name: `referrer_search_${name}`,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        this.reset()
        for (const chain of state.standing?.chains ?? []) this.set({ chain: chain.chainId }, chain[of])
      },
    })
  perChain('products', 'Products that can be found', 'products')
  perChain('vectors', 'Vectors of the serving model, counted from time to time', 'vectors')
  const single = (name: string, help: string, read: () => number | undefined) =>
    new Gauge({
      name: `referrer_search_${name}`,
      help,
      registers,
      collect() {
        const value = read()
        if (value === undefined) this.remove()
        else this.set(value)
      },
    })
  single('age_seconds', 'Seconds since the search index was last up to date', () =>
    state.isKept ? state.ageSeconds : undefined,
  )
  single(
    'load_seconds',
    'Duration of the last full load of the search index',
    () => state.standing?.loadSeconds,
  )
  const finds = new Histogram({
    name: 'referrer_search_find_seconds',
    help: 'Duration of questions to the search index, those without an answer included',
    buckets: [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
    registers,
  })
  state.onFind = (seconds) => finds.observe(seconds)
}
