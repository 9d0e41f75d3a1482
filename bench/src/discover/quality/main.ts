import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { createParts, type Parts } from '../../parts.ts'
import { fail, progress, withPostgres } from '../../stage.ts'
import { createMarket } from '../market.ts'
import { IN_MEMORY } from '../settings.ts'
import { createBm25 } from './bm25.ts'
import { compare, type Stage } from './endpoint.ts'
import { type Listed, openEngine, readListed } from './engine.ts'
import { type LocalEmbedder, openLocal } from './local.ts'
import { askedVectors, type Model, openModels } from './models.ts'
import { REPHRASINGS, type Rephrasing } from './rephrase.ts'
import { type JudgedSet, type Query, readSet, smaller } from './sets.ts'
import { createSummary, type Lists, PLAIN, WORDS } from './summary.ts'

const HELP = `bench:discover-quality: whether /v1/discover finds what is called right

The products of a judged set are listed in a market, all ranked alike, and its questions are asked: as they are, with one typo, and in a
sentence. Compared are plain BM25, the words of our index, the vectors of each model alone, and words and vectors together: the model that
comes with the service, the common words that come with it, words learned from the set, and learned and common words.
Then the service is asked the same questions over HTTP, with words alone and with the model that it chooses itself (EMBEDDER=auto), and
its first 20 products are compared with the engine's.
Embedding a large set with the local model takes half an hour the first time, and is kept in node_modules/.cache.

  --data <directory>   products.jsonl, queries.jsonl and qrels.tsv; may be repeated
                       (default bench/data/services, and ../shared/data/icecat, seen from this repository, if it is there)
  --products <n>       only so many products of a set: those that are judged, and others
  --split <which>      dev (default): the questions that constants were chosen with; held: the others; all
  --no-local           leaves out the local model, which takes long to embed a large set
  --no-endpoint        leaves out the questions over HTTP
  --database <url>     a server with pgvector: the index in Postgres is asked over HTTP, too`

const DEEP = 100
/** The service learns words itself from so many products on. */
const LEARNED_FROM = 5_000

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    data: { type: 'string', multiple: true },
    products: { type: 'string' },
    split: { type: 'string', default: 'dev' },
    'no-local': { type: 'boolean' },
    'no-endpoint': { type: 'boolean' },
    database: { type: 'string' },
  },
})

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  if (!['dev', 'held', 'all'].includes(values.split)) throw new Error('--split takes dev, held or all')
  const ours = fileURLToPath(new URL('../../../data/services', import.meta.url))
  const others = fileURLToPath(new URL('../../../../../shared/data/icecat', import.meta.url))
  const sets = values.data ?? [ours, ...(existsSync(others) ? [others] : [])]
  const local = values['no-local'] ? undefined : openLocal()
  const parts = createParts()
  const summary = createSummary(parts)
  try {
    await withPostgres(
      'quality',
      async (postgres, directory) => {
        for (const data of sets) {
          const whole = readSet(data)
          const set = values.products === undefined ? whole : smaller(whole, Number(values.products))
          await parts.run(set.name, () => measure(set, { postgres, directory, local, parts, summary }))
        }
        summary.tell()
      },
      { settings: IN_MEMORY, url: values.database },
    )
  } finally {
    await local?.close()
  }
}

interface Bench {
  postgres: PostgresServer
  directory: string
  local: LocalEmbedder | undefined
  parts: Parts
  summary: ReturnType<typeof createSummary>
}

async function measure(set: JudgedSet, { postgres, directory, local, parts, summary }: Bench): Promise<void> {
  progress(`${set.name}: filling ${set.items.length.toLocaleString('en')} products`)
  const goods = {
    name: `quality_${set.name.replaceAll(/\W+/g, '_')}`,
    count: set.items.length,
    items: set.items,
  }
  const market = await createMarket(postgres, goods, { intents: 1, hasReviews: false })
  try {
    const products = await readListed(market.sql, set)
    const queries = set.queries.filter(({ split }) => values.split === 'all' || split === values.split)
    const texts = products.map(({ text }) => text)
    const models = await openModels(market.sql, texts, local)
    progress(`${set.name}: questions to the engine`)
    summary.add(`${set.name} (${values.split})`, queries, await findAll(products, queries, models))
    if (values['no-endpoint']) return
    const chosen = models.find(({ name }) =>
      products.length < LEARNED_FROM ? name === 'local model' : name === 'learned and common words',
    )
    const indexes: Stage['index'][] = values.database === undefined ? ['memory'] : ['memory', 'postgres']
    for (const index of indexes)
      for (const model of [undefined, chosen]) {
        const name = `${set.name}, index in ${index}, ${model?.name ?? 'words alone'}`
        const compared = await parts.run(name, () =>
          compare({ market, directory, products, queries, index }, model),
        )
        if (compared) summary.addCompared(name, compared)
      }
  } finally {
    await market.sql.end()
  }
}

async function findAll(
  products: readonly Listed[],
  queries: readonly Query[],
  models: readonly Model[],
): Promise<Map<string, Lists>> {
  const engines = new Map<string, Lists>()
  const bm25 = createBm25(products)
  engines.set(
    PLAIN,
    await eachWay(queries, async (texts) => queries.map((query, at) => bm25(query, texts[at] ?? '', DEEP))),
  )
  const words = openEngine(products, undefined)
  engines.set(
    WORDS,
    await eachWay(queries, async (texts) =>
      queries.map((query, at) => words.find(query, texts[at] ?? '', undefined, DEEP)),
    ),
  )
  for (const model of models) {
    const engine = openEngine(products, model.products)
    engines.set(
      `${model.name} alone`,
      await eachWay(queries, async (texts) => {
        const vectors = await model.vectorsOf(texts)
        return queries.map((query, at) => engine.nearest(query, vectors[at] ?? new Int8Array(), DEEP))
      }),
    )
    engines.set(
      `words + ${model.name}`,
      await eachWay(queries, async (texts) => {
        const vectors = await askedVectors(model, texts)
        return queries.map((query, at) => engine.find(query, texts[at] ?? '', vectors[at], DEEP))
      }),
    )
  }
  return engines
}

/** Every question, however it is put. */
async function eachWay(
  queries: readonly Query[],
  find: (texts: string[]) => Promise<string[][]>,
): Promise<Lists> {
  const lists = {} as Lists
  for (const rephrasing of Object.keys(REPHRASINGS) as Rephrasing[])
    lists[rephrasing] = await find(queries.map(REPHRASINGS[rephrasing]))
  return lists
}
