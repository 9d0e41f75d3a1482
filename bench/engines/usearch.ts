import usearch from 'usearch'
import type { Engine, OpenEngine } from '../src/engines/engine.ts'

const { Index, MetricKind, ScalarKind } = usearch
/** It has no filters: it is asked for more, and the rest is thrown away. */
const MORE_UNDER_FILTERS = 10

export const open: OpenEngine = async ({ dims }) => {
  const index = new Index({
    dimensions: dims,
    metric: MetricKind.Cos,
    quantization: ScalarKind.F16,
    connectivity: 16,
    expansion_add: 128,
    expansion_search: 128,
    multi: false,
  })
  const categories = new Map<number, string>()
  const engine: Engine = {
    add(items) {
      const filled = items.filter(({ vector }) => vector !== undefined)
      for (const { id, category } of filled) categories.set(id, category)
      index.add(
        filled.map(({ id }) => BigInt(id)),
        filled.map(({ vector }) => vector as Float32Array),
        1,
      )
    },
    nearest(vector, limit, category) {
      const count = category === undefined ? limit : limit * MORE_UNDER_FILTERS
      return Array.from(index.search(vector, count, 1).keys, Number)
        .filter((id) => category === undefined || categories.get(id) === category)
        .slice(0, limit)
    },
    put(item) {
      index.remove(BigInt(item.id))
      engine.add([item])
    },
    remove(id) {
      index.remove(BigInt(id))
    },
  }
  return engine
}
