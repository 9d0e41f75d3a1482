import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { createParts } from '../parts.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { generatedItems, readItems } from './catalogue.ts'
import { EMBEDDER_ID, startEmbedder } from './embedder.ts'
import { createMarket, type Goods } from './market.ts'
import { type Index, type Measured, measure } from './measure.ts'
import { IN_MEMORY } from './settings.ts'
import { tell } from './summary.ts'
import { Space } from './vectors.ts'

const HELP = `bench:discover: how long /v1/discover takes, with few products and with many

One process of the service as it is deployed, on Postgres, asked over HTTP about products with 10 reviews each, and with vectors of 200
dimensions; intents are embedded before (a local endpoint stands for the model). A question of ten has a category, one of ten a price.
Beside it, without HTTP and without reviews: the full-text search of Postgres over the same products.
Measured: p50 and p99 with 1 and with 4 connections, requests a second with 32, CPU of the service for one answer and of Postgres (with 1
connection, if it runs here), the memory of the service, how long a new name takes to be found, and how long the index takes to be there
after a start. Everything shares the machine's cores.

  --sizes <n,n,…>        numbers of products (default 2000,20000,200000), which are made up from a seed
  --index <which>        memory (default) or postgres: DISCOVERY_INDEX, which finds the products
  --database <url>       a server for the markets, instead of one that is started; --index postgres needs one with pgvector. The markets stay
                         there and are used again: drop the schema search of a market to measure its first load again
  --reviews <n>          reviews for each product (default 10): a million products are filled faster with fewer
  --no-full-text         leaves out the full-text search of Postgres, whose index takes minutes for a million products
  --catalogue <file>     products to ask about instead: one JSON object a line with name, description, category, price in dollars`

const INTENTS = 500

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    sizes: { type: 'string', default: '2000,20000,200000' },
    index: { type: 'string', default: 'memory' },
    database: { type: 'string' },
    reviews: { type: 'string', default: '10' },
    'no-full-text': { type: 'boolean', default: false },
    catalogue: { type: 'string' },
  },
})

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const all = goods()
  const { index, database: url } = values
  if (index !== 'memory' && index !== 'postgres') throw new Error('--index takes memory or postgres')
  if (index === 'postgres' && url === undefined)
    throw new Error('--index postgres needs --database with the URL of a server that has pgvector')
  const measureAll = async (postgres: PostgresServer, directory: string) => {
    const parts = createParts()
    const results: [number, Measured][] = []
    for (const each of all) {
      await parts.run(each.count.toLocaleString('en'), async () => {
        results.push([each.count, await measureGoods(postgres, directory, each, index)])
      })
      progress(`load of the machine ${loadavg()[0]?.toFixed(1)}`)
    }
    tell(results, parts, index)
  }
  await withPostgres('discover', measureAll, { settings: IN_MEMORY, url })
}

function goods(): Goods[] {
  if (values.catalogue !== undefined) {
    const items = readItems(values.catalogue)
    return [{ name: 'catalogue', count: items.length, items }]
  }
  const sizes = values.sizes.split(',').map(Number)
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 100))
    throw new Error('--sizes takes numbers of products from 100 on, separated by commas')
  return sizes.map((count) => ({ name: `products_${count}`, count, items: generatedItems(count) }))
}

async function measureGoods(
  postgres: PostgresServer,
  directory: string,
  goods: Goods,
  index: Index,
): Promise<Measured> {
  progress(`filling ${goods.count.toLocaleString('en')} products`)
  const market = await createMarket(postgres, goods, {
    embedderId: EMBEDDER_ID,
    intents: INTENTS,
    hasReviews: true,
    reviewsEach: Number(values.reviews),
    isKept: values.database !== undefined,
  })
  const known = new Map(market.intents.map(({ text, vector }) => [text, vector]))
  const space = new Space()
  const embedder = await startEmbedder((text) => known.get(text) ?? space.of(text))
  try {
    return await measure(market, {
      directory,
      embedder,
      index,
      isCompared: !values['no-full-text'],
      progress,
    })
  } finally {
    embedder.close()
    await market.sql.end()
  }
}
