// Discovery that looks for products in Postgres, for markets that have outgrown memory.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { withTimeout } from '@referrer/process'
import { type Context, once } from '../../kit/context.ts'
import type { Worker } from '../../machinery/workers/frame.ts'
import { configuredId } from '../embeddings/embedders.ts'
import type { Source } from '../source.ts'
import type { Shelf } from './candidates.ts'
import { findProducts } from './find.ts'
import { keepTables } from './keep.ts'

const POLL_MS = 250
const LOOK_MS = 1_000
/** Nobody waits longer for hits; ranks answer without. */
const PATIENCE_MS = 500

interface State {
  /** By chain; empty until the tables were filled once. */
  shelves: ReadonlyMap<number, Shelf>
}

const stateOf = once((): State => ({ shelves: new Map() }))

/** It never fails: what it cannot find in time, it cannot tell. */
export const postgresSource = once((context): Source => {
  const state = stateOf(context)
  return {
    get embedderId() {
      return [...state.shelves.values()].find(({ vectors }) => vectors)?.vectors?.embedderId
    },
    async find(chainId, question) {
      const shelf = state.shelves.get(chainId)
      if (!shelf) return undefined
      const found = findProducts(context.sql, shelf, question, PATIENCE_MS).catch((error) => {
        context.log.warn({ err: error }, 'discovery could not search in Postgres')
        return undefined
      })
      return withTimeout(PATIENCE_MS, found)
    },
  }
})

/** What is found from now on is looked for in the tables as they are. */
export async function lookAtShelves(context: Context): Promise<void> {
  stateOf(context).shelves = await readShelves(context.sql, [...context.chains.keys()])
}

/** Keeps the tables, in one replica, and in all of them what is known of these. */
export function postgresSearchWorker(context: Context, pollMs = POLL_MS): Worker {
  const { config, databaseUrl, chains } = context
  const chainIds = [...chains.keys()]
  return {
    name: 'search',
    async run(signal, frame) {
      const ended = new AbortController()
      const both = AbortSignal.any([signal, ended.signal])
      const look = async () => {
        while (!both.aborted) {
          await lookAtShelves(context)
          await sleep(Math.min(LOOK_MS, 4 * pollMs), undefined, { signal: both }).catch(() => {})
        }
      }
      const keep = keepTables(
        {
          databaseUrl: databaseUrl.reveal(),
          chainIds,
          configuredId: configuredId(config.embedder),
          pollMs,
          onKept: () => frame.working(),
        },
        both,
      )
      try {
        await Promise.all([look(), keep])
      } finally {
        ended.abort()
        await keep.catch(() => {})
      }
    },
  }
}

type ShelfRow = { chain_id: number; size: number } & (
  | { id: number; embedder_id: string; dims: number }
  | { id: null; embedder_id: null; dims: null }
)

/** None before the schema is there. Of a chain that has two models the later one is the one to come. */
export async function readShelves(sql: Sql, chainIds: readonly number[]): Promise<Map<number, Shelf>> {
  const [schema] = await sql`SELECT FROM pg_class WHERE oid = to_regclass('search.models')`
  if (!schema) return new Map()
  const rows = await sql<ShelfRow[]>`
    SELECT DISTINCT ON (c.chain_id) c.chain_id::float8 AS chain_id, c.size, m.id, m.embedder_id, m.dims
    FROM search.catalogues AS c LEFT JOIN search.models AS m ON m.chain_id = c.chain_id AND m.is_ready
    WHERE c.is_ready AND c.chain_id = ANY(${[...chainIds]}::bigint[]) ORDER BY c.chain_id, m.id DESC`
  return new Map(
    rows.map(({ chain_id, size, id, embedder_id, dims }) => {
      const vectors = id === null ? undefined : { id, embedderId: embedder_id, dims }
      return [chain_id, { chainId: chain_id, size, vectors }]
    }),
  )
}
