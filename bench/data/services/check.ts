// Says what is wrong in the judged services after an edit: node scripts/run.mjs bench/data/services/check.ts
import { readFileSync } from 'node:fs'

type Product = { id: string; name: string; category: string; description: string; price?: number }
type Question = {
  id: string
  text: string
  split: 'dev' | 'held'
  category?: string
  price_ceiling?: number
  lang?: string
  thin?: boolean
}

const USDC = 1_000_000
const linesOf = (name: string) =>
  readFileSync(new URL(name, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
const products = linesOf('products.jsonl').map((line): Product => JSON.parse(line))
const questions = linesOf('queries.jsonl').map((line): Question => JSON.parse(line))
const productOf = new Map(products.map((product) => [product.id, product]))
const gradesOf = new Map(questions.map(({ id }) => [id, new Map<string, number>()]))
const wrong: string[] = []

const twice = (what: string, values: string[]) => {
  for (const [at, value] of values.entries())
    if (values.indexOf(value) !== at) wrong.push(`${what} is there twice: ${value}`)
}
twice(
  'the id of a product',
  products.map(({ id }) => id),
)
twice(
  'the name of a product',
  products.map(({ name }) => name),
)
twice(
  'the id of a question',
  questions.map(({ id }) => id),
)
twice(
  'a question',
  questions.map(({ text }) => text.toLowerCase()),
)

const counts = [0, 0, 0, 0]
const [header, ...judgements] = linesOf('qrels.tsv')
if (header !== 'query\tproduct\tgrade') wrong.push(`qrels.tsv starts with ${header}`)
for (const line of judgements) {
  const [query = '', product = '', grade = ''] = line.split('\t')
  const grades = gradesOf.get(query)
  if (!grades) wrong.push(`no such question: ${line}`)
  if (!productOf.has(product)) wrong.push(`no such product: ${line}`)
  if (!/^[0-3]$/.test(grade)) wrong.push(`no such grade: ${line}`)
  if (grades?.has(product)) wrong.push(`judged twice: ${line}`)
  grades?.set(product, Number(grade))
  counts[Number(grade)] = (counts[Number(grade)] ?? 0) + 1
}

for (const { id, name, category, description, price } of products)
  if (!name || !category || !description || (price !== undefined && !(price > 0)))
    wrong.push(`${id} lacks something, or its price is none`)

const passes = ({ category, price_ceiling = Number.POSITIVE_INFINITY }: Question, product?: Product) =>
  product !== undefined &&
  (category === undefined || product.category === category) &&
  (product.price === undefined || Math.round(product.price * USDC) <= price_ceiling)
for (const question of questions) {
  const left = [...(gradesOf.get(question.id) ?? [])].filter(([id]) => passes(question, productOf.get(id)))
  const best = Math.max(0, ...left.map(([, grade]) => grade))
  if (question.split !== 'dev' && question.split !== 'held') wrong.push(`${question.id} has no split`)
  if (!question.thin && best < 2) wrong.push(`${question.id} has no good product behind its filters`)
  if (question.thin && best > 2) wrong.push(`${question.id} is called thin and has an exact product`)
}

for (const line of wrong) console.error(line)
console.log(`${products.length} products, ${questions.length} questions, ${judgements.length} judgements`)
console.log(`of grade 0 to 3: ${counts.join(', ')}`)
if (wrong.length > 0) process.exitCode = 1
