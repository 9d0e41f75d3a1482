import { Gauge, Histogram, type Registry } from 'prom-client'
import type { Context } from '../../kit/context.ts'
import { searchState } from './client.ts'
import type { Standing } from './messages.ts'

/** Adds metrics of the search index. Gauges are read when the metrics are scraped. */
export function addSearchFigures(context: Context, registry: Registry): void {
  const state = searchState(context)
  const registers = [registry]
  const perChain = (name: string, help: string, of: (chain: Standing['chains'][number]) => number) =>
    new Gauge({
      name: `referrer_search_${name}`,
      help,
      labelNames: ['chain'],
      registers,
      collect() {
        this.reset()
        for (const chain of state.standing?.chains ?? []) this.set({ chain: chain.chainId }, of(chain))
      },
    })
  perChain('products', 'Products that can be found', ({ products }) => products)
  perChain('vectors', 'Vectors of the serving model, counted from time to time', ({ vectors }) => vectors)
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
  single('load_seconds', 'Duration of the last load of the search index', () => state.standing?.loadSeconds)
  perChain(
    'restored',
    'Whether the chain was loaded from a snapshot (1) or product by product (0)',
    ({ isRestored }) => Number(isRestored),
  )
  const finds = new Histogram({
    name: 'referrer_search_find_seconds',
    help: 'Duration of questions to the search index, those without an answer included',
    buckets: [0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3],
    registers,
  })
  state.onFind = (seconds) => finds.observe(seconds)
}
