import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { Random } from '../../index/random.ts'
import { createParts, type Parts } from '../../parts.ts'
import { report } from '../../report.ts'
import { fail, progress, withPostgres } from '../../stage.ts'
import { ask } from '../ask.ts'
import { generatedItems, intentFor } from '../catalogue.ts'
import { EMBEDDER_ID, type Embedder, type Mood, startEmbedder } from '../embedder.ts'
import { createMarket, type Market } from '../market.ts'
import { indexed, startService, until } from '../service.ts'
import { IN_MEMORY } from '../settings.ts'
import { Space } from '../vectors.ts'
import { createArrivals } from './arrivals.ts'
import { type Memory, settledMemory } from './memory.ts'
import { type Outcome, pace } from './pace.ts'

const HELP = `bench:discover-soak: whether /v1/discover stays up while everything around it moves

A hundred questions a second, no two of them the same and each from another client, while ten products a second are listed and the
endpoint that embeds fails every other time: it answers 500, or nothing, or garbage, or for too few texts. Counts answers other than 200
(there must be none), and whether memory grows once it is warm. Ends with 1 if something is wrong.

  --seconds <n>   how long, after 30 seconds to get warm (default 60)`

const PRODUCTS = 5_000
const WARM_UP_SECONDS = 30
const QUESTIONS_PER_SECOND = 100
const PRODUCTS_PER_SECOND = 10
const FAILURES: readonly Mood[] = ['error', 'silence', 'garbage', 'too few']
/**
 * What may be kept: vectors of intents (10,000 at about 1 KB, of which a minute of this brings a third), the products that came, and
 * what other threads have not collected yet: resident memory goes up and down by some 80 MB. A request that left 10 KB behind would make
 * 60 MB a minute of it.
 */
const MOST_GROWTH = { heap: 24 * 2 ** 20, resident: 128 * 2 ** 20 }

const { values } = parseArgs({
  options: { help: { type: 'boolean' }, seconds: { type: 'string', default: '60' } },
})
const seconds = Number(values.seconds)

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  if (!Number.isSafeInteger(seconds) || seconds < 10) throw new Error('--seconds takes a number from 10 on')
  await withPostgres('soak', measure, { settings: IN_MEMORY })
}

async function measure(postgres: PostgresServer, directory: string): Promise<void> {
  progress(`filling ${PRODUCTS.toLocaleString('en')} products`)
  const goods = { name: 'soak', count: PRODUCTS, items: generatedItems(PRODUCTS) }
  const market = await createMarket(postgres, goods, {
    embedderId: EMBEDDER_ID,
    intents: 1,
    hasReviews: true,
  })
  const random = new Random(9)
  const space = new Space()
  const embedder = await startEmbedder(
    (text) => space.of(text),
    () => (random.chance(0.5) ? 'well' : random.pick(FAILURES)),
  )
  try {
    await soak(market, embedder, directory)
  } finally {
    embedder.close()
    await market.sql.end()
  }
}

async function soak(market: Market, embedder: Embedder, directory: string): Promise<void> {
  const server = await startService({ name: 'soak', ...market, directory }, embedder)
  try {
    await indexed(server, market.intents[0] ?? { text: '' })
    const wishes = distinctWishes()
    const arrivals = createArrivals(market.sql)
    const run = (forSeconds: number) =>
      Promise.race([
        Promise.all([
          pace(QUESTIONS_PER_SECOND, forSeconds, () => ask(server.url, { text: wishes.next().value })),
          pace(PRODUCTS_PER_SECOND, forSeconds, () => arrivals.add()),
        ]),
        server.process.failed,
      ])
    progress('getting warm')
    await run(WARM_UP_SECONDS)
    progress(`${seconds} seconds of questions`)
    const before = await settledMemory(server)
    const [answers, additions] = await run(seconds)
    const after = await settledMemory(server)
    const parts = createParts()
    await parts.run('last product found', () =>
      until(async () => (await arrivals.isLastFound(server.url)) === true, 'the last product was not found'),
    )
    tell({ answers, additions, memory: { before, after }, embedder, parts })
  } finally {
    await server.process.stop()
  }
}

/** No two are the same. */
function* distinctWishes(): Generator<string, string> {
  const items = [...generatedItems(PRODUCTS)]
  const random = new Random(11)
  for (let n = 0; ; n += 1) yield `${intentFor(random.pick(items), random)} ${n}`
}

interface Soaked {
  answers: Outcome
  additions: Outcome
  memory: { before: Memory; after: Memory }
  embedder: Embedder
  parts: Parts
}

function tell({ answers, additions, memory: { before, after }, embedder, parts }: Soaked): void {
  const growth = { heap: after.heap - before.heap, resident: after.resident - before.resident }
  const calls = [...embedder.answered.values()].reduce((sum, count) => sum + count, 0)
  const failedCalls = calls - (embedder.answered.get('well') ?? 0)
  const figures = {
    questions: answers.done,
    failed: answers.failed.length,
    p50_ms: answers.p50Ms,
    p99_ms: answers.p99Ms,
    worst_ms: answers.worstMs,
    products_added: additions.done,
    embedder_calls: calls,
    embedder_failures: failedCalls,
    heap_growth_bytes: growth.heap,
    resident_growth_bytes: growth.resident,
    resident_bytes: after.resident,
  }
  const rows = Object.entries(figures).map(([figure, value]) => ({
    figure: figure.replaceAll('_', ' '),
    value: Number.isInteger(value) ? value.toLocaleString('en') : value.toFixed(1),
  }))
  report({ name: 'discover-soak', figures, ratios: {}, rows, failed: parts.failed })
  const wrong = [
    ...[...answers.failed, ...additions.failed].slice(0, 5),
    ...(['heap', 'resident'] as const)
      .filter((what) => growth[what] > MOST_GROWTH[what])
      .map(
        (what) =>
          `${what} grew by ${(growth[what] / 2 ** 20).toFixed(0)} MB, not ${MOST_GROWTH[what] / 2 ** 20}`,
      ),
  ]
  for (const line of wrong) console.log(`wrong: ${line}`)
  if (wrong.length > 0) process.exitCode = 1
}
