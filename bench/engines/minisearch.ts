import MiniSearch, { type SearchResult } from 'minisearch'
import { stemmer } from 'stemmer'
import type { Item, OpenEngine } from '../src/engines/engine.ts'

/** Misspelt words are looked for where the words as they are find nothing: that is quicker and ranks better. */
export const open: OpenEngine = async () => {
  const index = new MiniSearch<Item>({
    fields: ['name', 'category', 'description'],
    storeFields: ['category'],
    processTerm: (term) => stemmer(term.toLowerCase()),
  })
  return {
    add: (items) => index.addAll(items),
    match(text, limit, category) {
      const options = {
        boost: { name: 2, category: 2 },
        ...(category !== undefined && { filter: (found: SearchResult) => found.category === category }),
      }
      const exact = index.search(text, options)
      const found = exact.length > 0 ? exact : index.search(text, { ...options, fuzzy: 0.2 })
      return found.slice(0, limit).map(({ id }) => id)
    },
    put: (item) => index.replace(item),
    remove: (id) => index.discard(id),
  }
}
