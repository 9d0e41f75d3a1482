import hnswlib from 'hnswlib-node'
import type { OpenEngine } from '../src/engines/engine.ts'

/** Below the limit of a question it would answer with fewer. */
const BREADTH = 128

export const open: OpenEngine = async ({ items, dims }) => {
  const index = new hnswlib.HierarchicalNSW('cosine', dims)
  index.initIndex(items + 1_000, 16, BREADTH, 1)
  index.setEf(BREADTH)
  const categories = new Map<number, string>()
  return {
    add(items) {
      for (const { id, category, vector } of items) {
        categories.set(id, category)
        index.addPoint(Array.from(vector ?? []), id)
      }
    },
    nearest(vector, limit, category) {
      const isAsked = category === undefined ? undefined : (id: number) => categories.get(id) === category
      return index.searchKnn(Array.from(vector), limit, isAsked).neighbors
    },
    put({ id, vector }) {
      index.addPoint(Array.from(vector ?? []), id)
    },
    remove(id) {
      index.markDelete(id)
    },
  }
}
