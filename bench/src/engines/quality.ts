// How good the first ten answers are, where people have judged them.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Item } from './engine.ts'

export type Judged = {
  items: Item[]
  /** Those that something is right for. */
  queries: { text: string; grades: ReadonlyMap<number, number> }[]
}

type ProductLine = {
  id: string
  name: string
  description?: string
  category?: string
  brand?: string
  model?: string
  attributes?: Record<string, string>
}

/** A directory with `products.jsonl`, `queries.jsonl` and `qrels.tsv` (query, product, grade from 0 to 3). */
export function readJudged(directory: string): Judged {
  for (const file of ['products.jsonl', 'queries.jsonl', 'qrels.tsv']) {
    if (!existsSync(join(directory, file))) throw new Error(`--data: there is no ${file} in ${directory}`)
  }
  const lines = (file: string) => readFileSync(join(directory, file), 'utf8').split('\n').filter(Boolean)
  const numbers = new Map<string, number>()
  const items = lines('products.jsonl').map((line, id): Item => {
    const product: ProductLine = JSON.parse(line)
    numbers.set(product.id, id)
    const { name, category = '', description = '', brand = '', model = '', attributes = {} } = product
    const behind = [brand, model, ...Object.entries(attributes).flat()].join(' ')
    return { id, name, category, description: `${description} ${behind}`, vector: undefined }
  })
  const grades = new Map<string, Map<number, number>>()
  for (const line of lines('qrels.tsv')) {
    const [query = '', product = '', grade] = line.split('\t')
    const id = numbers.get(product)
    if (id !== undefined) grades.set(query, (grades.get(query) ?? new Map()).set(id, Number(grade)))
  }
  const queries = lines('queries.jsonl').map((line) => {
    const { id, text }: { id: string; text: string } = JSON.parse(line)
    return { text, grades: grades.get(id) ?? new Map<number, number>() }
  })
  return { items, queries: queries.filter(({ grades }) => Math.max(0, ...grades.values()) > 0) }
}

/** From 0 to 1: what the first ten are worth, of what they could be. */
export function ndcg(found: readonly number[], grades: ReadonlyMap<number, number>): number {
  const worth = (ordered: readonly number[]) =>
    ordered.slice(0, 10).reduce((sum, grade, index) => sum + (2 ** grade - 1) / Math.log2(index + 2), 0)
  const best = [...grades.values()].sort((a, b) => b - a)
  return worth(found.map((id) => grades.get(id) ?? 0)) / worth(best)
}
