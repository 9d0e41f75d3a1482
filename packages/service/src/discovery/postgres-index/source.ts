// The discovery source that searches in Postgres, for markets too large for memory.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { withTimeout } from '@referrer/process'
import type { Question } from '@referrer/search'
import { type Context, once, oncePerProcess } from '../../kit/context.ts'
import type { Worker } from '../../machinery/workers/frame.ts'
import { configuredId } from '../embeddings/embedders.ts'
import type { Source } from '../source.ts'
import type { Class, IndexedChain } from './candidates.ts'
import { explainProducts, findProducts } from './find.ts'
import { keepTables } from './keep.ts'
import { listOf, listsOf } from './lists.ts'
import { readTerms } from './vocabulary.ts'

const POLL_MS = 250
const LOOK_MS = 1_000
/** A request waits this long for hits, then is answered by ranks alone. */
const TIMEOUT_MS = 500

interface State {
  /** By chain; empty until the tables have been filled once. */
  chains: ReadonlyMap<number, IndexedChain>
}

const stateOf = oncePerProcess((): State => ({ chains: new Map() }))

type Finding<T> = (sql: Sql, indexed: IndexedChain, question: Question, timeoutMs: number) => Promise<T>

/** Never rejects: a failed or late search gives undefined. */
export const postgresSource = once((context): Source => {
  const state = stateOf(context)
  async function search<T>(chainId: number, question: Question, by: Finding<T>): Promise<T | undefined> {
    const indexed = state.chains.get(chainId)
    if (!indexed) return undefined
    const found = by(context.sql, indexed, question, TIMEOUT_MS).catch((error) => {
      context.log.warn({ err: error }, 'discovery could not search in Postgres')
      return undefined
    })
    return withTimeout(TIMEOUT_MS, found)
  }
  return {
    get embedderId() {
      return [...state.chains.values()].find(({ vectors }) => vectors)?.vectors?.embedderId
    },
    find: (chainId, question) => search(chainId, question, findProducts),
    explain: (chainId, question) => search(chainId, question, explainProducts),
  }
})

/** Reads the present state of the tables; the following searches use it. */
export async function readIndexState(context: Context): Promise<void> {
  stateOf(context).chains = await readIndexedChains(context.sql, [...context.chains.keys()])
}

/** Keeps the tables (in one replica) and reads their state (in every replica). */
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
          await readIndexState(context)
          await sleep(Math.min(LOOK_MS, 4 * pollMs), undefined, { signal: both }).catch(() => {})
        }
      }
      const keep = keepTables(
        {
          databaseUrl: databaseUrl.reveal(),
          chainIds,
          configuredId: configuredId(config.embedder),
          pollMs,
          progress: (line) => context.log.info(`search index: ${line}`),
          watcher: context.sql,
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

type IndexedChainRow = { chain_id: number; size: number } & (
  | { id: number; embedder_id: string; dims: number }
  | { id: null; embedder_id: null; dims: null }
)

/** Empty before the schema exists. If a chain has two models that are ready, the newer one counts. */
export async function readIndexedChains(
  sql: Sql,
  chainIds: readonly number[],
): Promise<Map<number, IndexedChain>> {
  const [schema] = await sql`SELECT FROM pg_class WHERE oid = to_regclass('search.models')`
  if (!schema) return new Map()
  const rows = await sql<IndexedChainRow[]>`
    SELECT DISTINCT ON (c.chain_id) c.chain_id::float8 AS chain_id, c.size, m.id, m.embedder_id, m.dims
    FROM search.catalogues AS c LEFT JOIN search.models AS m ON m.chain_id = c.chain_id AND m.is_ready
    WHERE c.is_ready AND c.chain_id = ANY(${[...chainIds]}::bigint[]) ORDER BY c.chain_id, m.id DESC`
  const chains = rows.map(async ({ chain_id, size, id, embedder_id, dims }): Promise<IndexedChain> => {
    const vectors = id === null ? undefined : { id, embedderId: embedder_id, dims }
    return { chainId: chain_id, size, vectors, ...(await readClasses(sql, chain_id)) }
  })
  return new Map((await Promise.all(chains)).map((chain) => [chain.chainId, chain]))
}

/** How many products are in each class of ranks and of costs. */
async function readClasses(sql: Sql, chainId: number): Promise<{ ranks: Class[]; costs: Class[] }> {
  const [ranks, costs] = [listsOf('rank'), listsOf('cost')]
  const rows = await readTerms(sql, chainId, [...new Set([...ranks, ...costs].map(({ term }) => term))])
  const numbers = new Map(rows.map(({ term, number }) => [term, number]))
  const entries = new Map(rows.map(({ list, entries }) => [list, entries ?? 0]))
  const classes = (lists: typeof ranks) =>
    lists.map(({ term, step }): Class => {
      const list = listOf(numbers.get(term) ?? 0, step)
      return { list, entries: entries.get(list) ?? 0 }
    })
  return { ranks: classes(ranks), costs: classes(costs) }
}
