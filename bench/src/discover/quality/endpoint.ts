// Asks the service itself, over HTTP, whether it answers what the engine in this process does.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import type { Server } from '../../http/servers.ts'
import { progress } from '../../stage.ts'
import { ask } from '../ask.ts'
import type { Market } from '../market.ts'
import type { Index } from '../measure.ts'
import { indexed, startService, until } from '../service.ts'
import { type Listed, openEngine } from './engine.ts'
import { askedVectors, type Model } from './models.ts'
import { REPHRASINGS, type Rephrasing } from './rephrase.ts'
import type { Query } from './sets.ts'

const SHOWN = 20
/** The endpoint asks for a few more than it shows. */
const ASKED = 25
/** An intent that was embedded too late is embedded when it is asked for again; the index may yet have to take up the vectors. */
const ATTEMPTS = 20
const ATTEMPTS_AT_FIRST = 600
const GROUPED_FROM = 5_000

export interface Compared {
  asked: number
  /** Questions whose first 20 products were not those that the engine names. */
  differing: string[]
  /** Of these, the questions whose first ten differ. */
  differingEarly: number
}

export interface Stage {
  market: Market
  directory: string
  products: readonly Listed[]
  queries: readonly Query[]
  index: Index
}

/** `model`: that of the service's own choice (EMBEDDER=auto); undefined: words alone (EMBEDDER=off). */
export async function compare(stage: Stage, model: Model | undefined): Promise<Compared> {
  const { market, directory, products, queries, index } = stage
  const name = `${index}-${model ? 'auto' : 'off'}`
  const settings = { DISCOVERY_INDEX: index }
  const server = await startService({ name, ...market, directory, settings }, model ? 'auto' : 'off')
  try {
    await indexed(server, { text: queries[0]?.text ?? '' })
    const embedder = model && (await readyEmbedder(market.sql, model, server))
    if (embedder && index === 'memory' && products.length >= GROUPED_FROM)
      await until(async () => (await cellsOf(market.sql, embedder)) !== undefined, 'nothing was grouped')
    const cells = embedder === undefined ? undefined : await cellsOf(market.sql, embedder)
    const engine = openEngine(products, model?.products, cells)
    const idOf = new Map(products.map(({ shownAs, id }) => [shownAs, id]))
    const compared: Compared = { asked: 0, differing: [], differingEarly: 0 }
    for (const rephrasing of Object.keys(REPHRASINGS) as Rephrasing[]) {
      progress(`${name}: questions ${rephrasing}`)
      const texts = queries.map(REPHRASINGS[rephrasing])
      const vectors = model && (await askedVectors(model, texts))
      for (const [at, query] of queries.entries()) {
        const text = texts[at] ?? ''
        const expected = engine.find(query, text, vectors?.[at], ASKED).slice(0, SHOWN)
        let shown = await found(server, query, text, idOf)
        const attempts = compared.asked === 0 ? ATTEMPTS_AT_FIRST : ATTEMPTS
        for (let attempt = 1; attempt < attempts && shown.join() !== expected.join(); attempt += 1) {
          await sleep(100)
          shown = await found(server, query, text, idOf)
        }
        compared.asked += 1
        if (shown.join() === expected.join()) continue
        compared.differing.push(text)
        if (shown.slice(0, 10).join() !== expected.slice(0, 10).join()) compared.differingEarly += 1
      }
    }
    return compared
  } finally {
    await server.process.stop()
  }
}

/** Waits until everything has vectors of the model that the service chose, and returns its id. */
async function readyEmbedder(sql: Sql, { kind }: Model, { process }: Server): Promise<string> {
  let id: string | undefined
  const isReady = async () => {
    const [row] = await sql<{ embedder_id: string }[]>`
      SELECT embedder_id FROM market.embedders WHERE ready_at IS NOT NULL AND starts_with(embedder_id, ${`${kind}/`})`
    id = row?.embedder_id
    return id !== undefined
  }
  await Promise.race([until(isReady, 'not all products have been embedded'), process.failed])
  return id ?? ''
}

async function cellsOf(sql: Sql, embedder: string): Promise<Buffer | undefined> {
  const [row] = await sql<{ points: Buffer }[]>`
    SELECT points FROM market.vector_cells WHERE embedder_id = ${embedder}`
  return row?.points
}

/** Without the products that are shown by their rank alone. */
async function found(
  { url }: Server,
  { category, ceiling }: Query,
  text: string,
  idOf: ReadonlyMap<string, string>,
): Promise<string[]> {
  const products = await ask(url, { text, category, ceiling, products: SHOWN })
  return products
    .filter(({ sub_scores }) => sub_scores.intent_match > 0)
    .map(({ product_id }) => idOf.get(product_id) ?? '')
}
