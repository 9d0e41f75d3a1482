import { create, insertMultiple, remove, search, update } from '@orama/orama'
import type { Item, OpenEngine } from '../src/engines/engine.ts'

const BATCH = 1_000

/** Misspelt words are looked for where the words as they are find nothing: that is quicker and ranks better. */
export const open: OpenEngine = async ({ dims }) => {
  const schema = {
    name: 'string',
    category: 'enum',
    description: 'string',
    vector: `vector[${dims}]`,
  } as const
  const index = create({ schema, components: { tokenizer: { language: 'english', stemming: true } } })
  const documentOf = ({ id, name, category, description, vector }: Item) => ({
    id: `${id}`,
    name,
    category,
    description,
    ...(vector && { vector: Array.from(vector) }),
  })
  const where = (category: string | undefined) =>
    category === undefined ? {} : { where: { category: { eq: category } } }
  return {
    async add(items) {
      await insertMultiple(index, items.map(documentOf), BATCH)
    },
    async nearest(vector, limit, category) {
      const found = await search(index, {
        mode: 'vector',
        vector: { value: Array.from(vector), property: 'vector' },
        similarity: 0,
        limit,
        ...where(category),
      })
      return found.hits.map(({ id }) => Number(id))
    },
    async match(term, limit, category) {
      const options = {
        mode: 'fulltext' as const,
        term,
        properties: ['name', 'description'] as ('name' | 'description')[],
        boost: { name: 2 },
        limit,
        ...where(category),
      }
      const exact = await search(index, options)
      const found = exact.count > 0 ? exact : await search(index, { ...options, tolerance: 1 })
      return found.hits.map(({ id }) => Number(id))
    },
    async put(item) {
      await update(index, `${item.id}`, documentOf(item))
    },
    async remove(id) {
      await remove(index, `${id}`)
    },
  }
}
