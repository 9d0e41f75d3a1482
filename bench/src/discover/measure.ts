import { randomUUID } from 'node:crypto'
import { loadavg } from 'node:os'
import { fire, type Shot } from '../http/load.ts'
import type { Server } from '../http/servers.ts'
import { ask, questions } from './ask.ts'
import type { Market } from './market.ts'
import { findPlainly, indexPlainly } from './plain.ts'
import { databaseCpuSeconds, indexed, memoryOf, startService, tellingLoad, until } from './service.ts'

const ROUNDS = 5
const ROUND_MS = 4_000
/** With one connection to Postgres: a p99 needs hundreds of answers. */
const LONG_ROUND_MS = 15_000
/** Enough to keep two cores busy. */
const MANY = 32
const UPDATES = 20
const LOOK_MS = 20
/** From this many products on, the index groups its vectors, and from this many on it keeps a snapshot. */
const GROUPED_FROM = 5_000
const KEPT_FROM = 10_000
/** How many questions the full-text search of Postgres is asked. */
const PLAINLY = 300

export type Times = { p50Ms: number; p99Ms: number }
export type Measured = {
  /** From the start of the process until the first answer by the index: without stored groups of vectors and a snapshot, and with them. */
  firstStartMs: number
  restartMs: number
  /** Processor time of the process until then. */
  restartCpuMs: number
  alone: Times
  four: Times
  perSecond: number
  cpuMicros: number
  /** Processor time of Postgres for one answer, with one connection; not a number if it is on another machine. */
  databaseCpuMicros: number
  residentBytes: number
  visibleMs: { median: number; worst: number }
  /** Undefined: left out. */
  plain: Times | undefined
}

export type Index = 'memory' | 'postgres'
export type Stage = {
  directory: string
  embedder: { url: string }
  index: Index
  /** Whether the full-text search of Postgres is asked, too: its index takes minutes for a million products. */
  isCompared: boolean
  progress(line: string): void
}

export async function measure(market: Market, stage: Stage): Promise<Measured> {
  const { sql, products } = market
  const name = `${products} products`
  const start = async () => {
    const begun = performance.now()
    const settings = { DISCOVERY_INDEX: stage.index }
    const options = { name, ...market, directory: stage.directory, settings }
    const server = await startService(options, stage.embedder)
    const isThere = indexed(server, market.intents[0] ?? { text: '' })
    await orStop(server, tellingLoad(options, stage.progress, isThere))
    return { server, ms: performance.now() - begun, cpuMs: server.process.cpuSeconds() * 1_000 }
  }

  stage.progress(`${name}: first start`)
  const first = await start()
  const has = async (table: string) => (await sql`SELECT FROM market.${sql(table)}`).length > 0
  const stored = async () =>
    stage.index === 'postgres' ||
    ((products < GROUPED_FROM || (await has('vector_cells'))) &&
      (products < KEPT_FROM || (await has('index_snapshots'))))
  await orStop(first.server, until(stored, 'nothing was grouped, or no snapshot was kept'))
  await first.server.process.stop()

  stage.progress(`${name}: restart`)
  const { server, ms: restartMs, cpuMs: restartCpuMs } = await start()
  try {
    for (const intent of market.intents) await ask(server.url, intent)
    stage.progress(`${name}: questions`)
    const alone = await rounds(server, market, 1, stage)
    const four = await rounds(server, market, 4, stage)
    const many = await rounds(server, market, MANY, stage)
    const { resident } = await memoryOf(server)
    stage.progress(`${name}: updates`)
    const visible = await updates(server, market)
    return {
      firstStartMs: first.ms,
      restartMs,
      restartCpuMs,
      alone,
      four,
      perSecond: many.perSecond,
      cpuMicros: many.cpuMicros,
      databaseCpuMicros: alone.databaseCpuMicros,
      residentBytes: resident,
      visibleMs: { median: at(visible, 0.5), worst: at(visible, 1) },
      plain: stage.isCompared ? await plainly(market, stage) : undefined,
    }
  } finally {
    await server.process.stop()
  }
}

/** Stops the server when the work fails: a running server would keep this process alive. */
async function orStop(server: Server, work: Promise<void>): Promise<void> {
  try {
    await work
  } catch (error) {
    await server.process.stop()
    throw error
  }
}

type Round = Shot & { cpuMicros: number; databaseCpuMicros: number }

/** The median of several rounds. */
async function rounds(
  server: Server,
  { sql, intents }: Market,
  connections: number,
  { index, progress }: Stage,
) {
  const ms = index === 'postgres' && connections === 1 ? LONG_ROUND_MS : ROUND_MS
  const next = questions(intents)
  const shots: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    const [before, databaseBefore] = [server.process.cpuSeconds(), await databaseCpuSeconds(sql)]
    const shot = await Promise.race([fire({ url: server.url, next, ms, connections }), server.process.failed])
    const micros = (after: number | undefined, before: number | undefined) =>
      (((after ?? Number.NaN) - (before ?? Number.NaN)) * 1e6) / shot.answered
    const measured = {
      ...shot,
      cpuMicros: micros(server.process.cpuSeconds(), before),
      databaseCpuMicros: micros(await databaseCpuSeconds(sql), databaseBefore),
    }
    shots.push(measured)
    progress(`${connections} at once: ${lineOf(measured)}`)
  }
  const median = (key: keyof Round) =>
    at(
      shots.map((shot) => shot[key]),
      0.5,
    )
  return {
    p50Ms: median('p50Ms'),
    p99Ms: median('p99Ms'),
    perSecond: median('perSecond'),
    cpuMicros: median('cpuMicros'),
    databaseCpuMicros: median('databaseCpuMicros'),
  }
}

/** Of a machine that others use, too, every round is worth a look. */
const lineOf = ({ answered, p50Ms, p99Ms, cpuMicros, databaseCpuMicros }: Round) =>
  `${answered} answers, p50 ${p50Ms.toFixed(1)}, p99 ${p99Ms.toFixed(1)} ms, CPU ${(cpuMicros / 1_000).toFixed(1)} ms and ${(databaseCpuMicros / 1_000).toFixed(1)} of Postgres, load ${loadavg()[0]?.toFixed(1)}`

/** How long it takes until a product is found by its new name. */
async function updates({ url }: Server, { sql, products }: Market): Promise<number[]> {
  const chosen = await sql<{ merchant_id: bigint; product_id: Buffer }[]>`
    SELECT merchant_id, product_id FROM market.listings WHERE is_open
    ORDER BY md5(product_id::text || ${products}::text) LIMIT ${UPDATES}`
  const took: number[] = []
  for (const { merchant_id, product_id } of chosen) {
    const word = `renamed${randomUUID().replaceAll('-', '')}`
    const begun = performance.now()
    await sql`
      UPDATE market.products SET name = ${`The ${word}`} WHERE merchant_id = ${merchant_id} AND product_id = ${product_id}`
    const isFound = async () => {
      const [best] = await ask(url, { text: word })
      return best?.name === `The ${word}` && best.sub_scores.intent_match > 0
    }
    await until(isFound, 'a new name was not found', LOOK_MS)
    took.push(performance.now() - begun)
  }
  return took
}

async function plainly({ sql, intents, products }: Market, { progress }: Stage): Promise<Times> {
  progress(`${products} products: full text of Postgres`)
  await indexPlainly(sql)
  const took: number[] = []
  for (const [place, intent] of [...intents.slice(0, PLAINLY), ...intents.slice(0, PLAINLY)].entries()) {
    const begun = performance.now()
    await findPlainly(sql, intent)
    if (place >= PLAINLY) took.push(performance.now() - begun)
  }
  return { p50Ms: at(took, 0.5), p99Ms: at(took, 0.99) }
}

/** The quantile of this share. */
function at(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
}
