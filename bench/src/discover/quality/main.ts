import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import type { Server } from '../../http/servers.ts'
import { createParts } from '../../parts.ts'
import { fail, progress, withPostgres } from '../../stage.ts'
import { ask } from '../ask.ts'
import { createMarket, type Market } from '../market.ts'
import { indexed, startService, until } from '../service.ts'
import { IN_MEMORY } from '../settings.ts'
import { createBm25 } from './bm25.ts'
import { embedProducts, type LocalEmbedder, openModel } from './embeddings.ts'
import { type Engine, openEngine } from './engine.ts'
import { type Judged, readJudged } from './judgements.ts'
import { REPHRASINGS, type Rephrasing } from './rephrase.ts'
import { createSummary, type Lists } from './summary.ts'

const HELP = `bench:discover-quality: whether /v1/discover finds what people called right

The products of a shop are listed in a market, all ranked alike, and the questions that people rated results for are asked over HTTP: by
words alone (EMBEDDER=off), and as it is deployed with the model that comes with the service (EMBEDDER=local). Beside it: the vectors
alone, and plain BM25 over the same texts. Then the same with one typo a question, and with the question in a sentence.
The endpoint shows 20 products at most: what goes deeper, recall and the condensed nDCG, is asked of the engine inside, whose first 20
are compared with the endpoint's.
Embedding the products takes some minutes the first time, and is kept in node_modules/.cache.

  --data <directory>   products.jsonl, queries.jsonl and qrels.tsv (default ../shared/data/icecat, seen from this repository)`

const SHOWN = 20
/** The endpoint asks for a few more than it shows. */
const ASKED = 25
const DEEP = 100
/** An intent that was embedded too late is embedded when it is asked for again. */
const ATTEMPTS = 20
const GROUPED_FROM = 5_000

const { values } = parseArgs({ options: { help: { type: 'boolean' }, data: { type: 'string' } } })
const data = values.data ?? fileURLToPath(new URL('../../../../../shared/data/icecat', import.meta.url))

if (values.help) console.log(HELP)
else if (!existsSync(data))
  console.log('skipped: there are no rated products here; say where with --data <directory>')
else await main().catch(fail)

async function main(): Promise<void> {
  const model = openModel()
  try {
    await withPostgres('quality', (postgres, directory) => measure(postgres, directory, model), {
      settings: IN_MEMORY,
    })
  } finally {
    await model.close()
  }
}

async function measure(postgres: PostgresServer, directory: string, model: LocalEmbedder): Promise<void> {
  const judged = readJudged(data)
  progress(`filling ${judged.items.length.toLocaleString('en')} products`)
  const goods = { name: 'quality', count: judged.items.length, items: judged.items }
  const market = await createMarket(postgres, goods, { intents: 1, hasReviews: false })
  const parts = createParts()
  const summary = createSummary(judged.queries, basename(data) === 'icecat', parts)
  try {
    await embedProducts(market.sql)
    const idOf = await idsOf(market, judged)
    const stage = { judged, market, directory, model, idOf }
    const words = await parts.run('ours, words alone', () => askAll(stage, 'off'))
    const both = await parts.run('ours, both', () => askAll(stage, 'local'))
    const bm25 = createBm25(judged.items.map((item) => `${item.name} ${item.category} ${item.description}`))
    const engine = await openEngine(market.sql, true)
    for (const rephrasing of Object.keys(REPHRASINGS) as Rephrasing[]) {
      const texts = judged.queries.map(REPHRASINGS[rephrasing])
      const plain = texts.map((text) => bm25(text, DEEP).map((at) => judged.ids[at] ?? ''))
      const near = await parts.run(`${rephrasing}, vectors alone`, async () =>
        (await model.embed(texts, 'texts')).map((vector) => engine.nearest(vector, DEEP).map(idOf)),
      )
      summary.add(rephrasing, {
        'plain BM25': { first: plain, deep: plain, differing: 0 },
        'ours, words alone': words?.[rephrasing],
        'vectors alone': near && { first: near, deep: near, differing: 0 },
        'ours, both': both?.[rephrasing],
      })
    }
    summary.tell()
  } finally {
    await market.sql.end()
  }
}

/** From the ids that the endpoint writes to those of the data. */
async function idsOf({ sql }: Market, { ids }: Judged): Promise<(id: string) => string> {
  const rows = await sql<{ product_id: Buffer; n: number }[]>`
    SELECT product_id, substring(endpoint_url FROM '\\d+$')::int AS n FROM market.products`
  const known = new Map(
    rows.map(({ product_id, n }) => [`0x${product_id.toString('hex')}`, ids[n - 1] ?? '']),
  )
  return (id) => known.get(id) ?? ''
}

interface Stage {
  judged: Judged
  market: Market
  directory: string
  model: LocalEmbedder
  idOf: (id: string) => string
}

/** Every question, however it is put. */
async function askAll(stage: Stage, embedder: 'off' | 'local'): Promise<Record<Rephrasing, Lists>> {
  const { judged, market, directory } = stage
  const server = await startService({ name: embedder, ...market, directory }, embedder)
  try {
    await indexed(server, { text: judged.queries[0]?.text ?? '' })
    const hasVectors = embedder === 'local'
    if (hasVectors && judged.items.length >= GROUPED_FROM)
      await until(
        async () => (await market.sql`SELECT FROM market.vector_cells`).length > 0,
        'nothing was grouped',
      )
    const engine = await openEngine(market.sql, hasVectors)
    const answers = {} as Record<Rephrasing, Lists>
    for (const rephrasing of Object.keys(REPHRASINGS) as Rephrasing[]) {
      progress(`${hasVectors ? 'both' : 'words alone'}: questions ${rephrasing}`)
      answers[rephrasing] = await askOne(stage, server, engine, { rephrasing, hasVectors })
    }
    return answers
  } finally {
    await server.process.stop()
  }
}

async function askOne(
  { judged, model, idOf }: Stage,
  { url }: Server,
  engine: Engine,
  { rephrasing, hasVectors }: { rephrasing: Rephrasing; hasVectors: boolean },
): Promise<Lists> {
  const lists: Lists = { first: [], deep: [], differing: 0 }
  for (const text of judged.queries.map(REPHRASINGS[rephrasing])) {
    const [vector] = hasVectors ? await model.embed([text]) : []
    const expected = engine.find(text, vector, ASKED).slice(0, SHOWN)
    let shown = await found(url, text)
    for (let attempt = 1; attempt < ATTEMPTS && shown.join() !== expected.join(); attempt += 1) {
      await sleep(100)
      shown = await found(url, text)
    }
    if (shown.join() !== expected.join()) lists.differing += 1
    lists.first.push(shown.map(idOf))
    lists.deep.push(engine.find(text, vector, DEEP).map(idOf))
  }
  return lists
}

/** Without the products that are shown by their rank alone. */
async function found(url: string, text: string): Promise<string[]> {
  const products = await ask(url, { text, products: SHOWN })
  return products.filter(({ sub_scores }) => sub_scores.intent_match > 0).map(({ product_id }) => product_id)
}
