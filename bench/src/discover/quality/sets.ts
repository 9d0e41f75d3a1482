// Catalogues with questions, and what somebody said of the products that were found.
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Item } from '../catalogue.ts'
import { LEAST_PRICE } from '../rows.ts'

/** Constants were chosen with the questions of `dev`; those of `held` tell how well that carries over. */
export type Split = 'dev' | 'held'

export interface Query {
  id: string
  text: string
  category: string | undefined
  /** In base units. */
  ceiling: number | undefined
  language: string
  split: Split
  /** From 0 to 3, by the id of the product; only of products that the filters let through. */
  grades: ReadonlyMap<string, number>
}

export interface JudgedSet {
  name: string
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

type QueryLine = {
  id: string
  text: string
  split?: Split
  category?: string
  price_ceiling?: number
  lang?: string
}

export function readSet(directory: string): JudgedSet {
  const read = (name: string) => readFileSync(join(directory, name), 'utf8').trim().split('\n')
  const lines = read('products.jsonl').map((line): Line => JSON.parse(line))
  const items = lines.map(itemOf)
  const byId = new Map(lines.map(({ id }, at) => [id, items[at]]))
  const grades = new Map<string, Map<string, number>>()
  for (const line of read('qrels.tsv').slice(1)) {
    const [query = '', product = '', grade = ''] = line.split('\t')
    grades.set(query, (grades.get(query) ?? new Map()).set(product, Number(grade)))
  }
  return {
    name: basename(directory),
    ids: lines.map(({ id }) => id),
    items,
    queries: read('queries.jsonl').map((line, at): Query => {
      const { id, text, split, category, price_ceiling: ceiling, lang = 'en' }: QueryLine = JSON.parse(line)
      const passes = (item: Item | undefined) =>
        (category === undefined || item?.category === category) &&
        (ceiling === undefined || (item?.price ?? LEAST_PRICE) <= ceiling)
      return {
        id,
        text,
        category,
        ceiling,
        language: lang,
        // A set that is not divided is divided here.
        split: split ?? (at % 2 === 0 ? 'dev' : 'held'),
        grades: new Map([...(grades.get(id) ?? [])].filter(([product]) => passes(byId.get(product)))),
      }
    }),
  }
}

/** The same questions in a smaller catalogue: what is judged, and the first of what is not. */
export function smaller(set: JudgedSet, products: number): JudgedSet {
  const judged = new Set(set.queries.flatMap(({ grades }) => [...grades.keys()]))
  if (judged.size > products)
    throw new Error(`${set.name} has ${judged.size} judged products: --products must be at least as many`)
  let others = products - judged.size
  const isKept = set.ids.map((id) => {
    if (judged.has(id)) return true
    others -= 1
    return others >= 0
  })
  return {
    ...set,
    name: `${set.name}, ${products.toLocaleString('en')} products`,
    items: set.items.filter((_, at) => isKept[at]),
    ids: set.ids.filter((_, at) => isKept[at]),
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
