import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, Index, type Table } from '@lancedb/lancedb'
import type { Engine, Item, OpenEngine } from '../src/engines/engine.ts'

const rowOf = ({ id, name, category, description, vector }: Item) => ({
  id,
  category,
  words: `${name} ${category} ${description}`,
  ...(vector && { vector: Array.from(vector) }),
})
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id)
const only = (category: string) => `category = '${category.replaceAll("'", "''")}'`

export const open: OpenEngine = async () => {
  const directory = mkdtempSync(join(tmpdir(), 'bench-lancedb-'))
  const database = await connect(directory)
  let opened: Table | undefined
  let hasVectors = false
  const table = () => {
    if (!opened) throw new Error('nothing was added yet')
    return opened
  }
  const engine: Engine = {
    async add(items) {
      hasVectors = items[0]?.vector !== undefined
      if (opened) await opened.add(items.map(rowOf))
      else opened = await database.createTable('items', items.map(rowOf))
    },
    async built() {
      await table().optimize()
      if (hasVectors) {
        await table().createIndex('vector', {
          config: Index.hnswSq({ distanceType: 'cosine', m: 16, efConstruction: 128 }),
        })
        await table().createIndex('id')
      }
      await table().createIndex('words', {
        config: Index.fts({ stem: true, removeStopWords: true, withPosition: false }),
      })
      await table().createIndex('category', { config: Index.bitmap() })
    },
    async nearest(vector, limit, category) {
      const query = table()
        .vectorSearch(vector)
        .distanceType('cosine')
        .ef(200)
        .nprobes(20)
        .select(['id', '_distance'])
        .limit(limit)
      return idsOf(await (category === undefined ? query : query.where(only(category))).toArray())
    },
    async match(text, limit, category) {
      const query = table()
        .query()
        .fullTextSearch(text, { columns: ['words'] })
        .select(['id', '_score'])
        .limit(limit)
      return idsOf(await (category === undefined ? query : query.where(only(category))).toArray())
    },
    async put(item) {
      await table()
        .mergeInsert('id')
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
        .execute([rowOf(item)])
    },
    async remove(id) {
      await table().delete(`id = ${id}`)
    },
    async close() {
      database.close()
      rmSync(directory, { recursive: true, force: true })
    },
  }
  return engine
}
