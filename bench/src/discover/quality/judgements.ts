// A catalogue with questions, and what people said of the products that were found.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Item } from '../catalogue.ts'

export interface Query {
  id: string
  text: string
  /** From 0 to 3, by the id of the product. */
  grades: ReadonlyMap<string, number>
}

export interface Judged {
  /** In the order of `ids`. */
  items: Item[]
  ids: string[]
  queries: Query[]
}

const MOST = { name: 200, category: 64, description: 2_000 }
const USDC = 1_000_000

type Line = {
  id: string
  name: string
  description?: string
  category?: string
  price?: number
  brand?: string
  model?: string
  attributes?: Record<string, string>
}

export function readJudged(directory: string): Judged {
  const read = (name: string) => readFileSync(join(directory, name), 'utf8').trim().split('\n')
  const lines = read('products.jsonl').map((line): Line => JSON.parse(line))
  const grades = new Map<string, Map<string, number>>()
  for (const line of read('qrels.tsv').slice(1)) {
    const [query = '', product = '', grade = ''] = line.split('\t')
    grades.set(query, (grades.get(query) ?? new Map()).set(product, Number(grade)))
  }
  return {
    ids: lines.map(({ id }) => id),
    items: lines.map(itemOf),
    queries: read('queries.jsonl').map((line) => {
      const { id, text } = JSON.parse(line)
      return { id, text, grades: grades.get(id) ?? new Map() }
    }),
  }
}

/** As a merchant would register it: what has no field of its own goes behind the description. */
function itemOf({ name, description = '', category = '', price, brand, model, attributes = {} }: Line): Item {
  const rest = Object.entries(attributes).map(([key, value]) => `${key}: ${value}`)
  const all = [description, [brand, model].filter(Boolean).join(' '), rest.join(', ')]
  return {
    name: name.slice(0, MOST.name),
    category: category.slice(0, MOST.category),
    description: all.filter(Boolean).join('\n').slice(0, MOST.description),
    price: price === undefined ? undefined : Math.round(price * USDC),
  }
}
