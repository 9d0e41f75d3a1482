// Keeps the schema `search` up to date with the market, in one replica at a time: compares everything once, then
// follows changes. Another replica, or this one after a lost connection, goes on where the tables say they are; on
// another server it compares everything, because that has another history.
import { setTimeout as sleep } from 'node:timers/promises'
import { type Leadership, lead } from '@referrer/chain'
import type { Sql } from '@referrer/database'
import {
  changedProducts,
  currentSnapshot,
  keyOfRow,
  type ListedRow,
  openProducts,
  productOf,
  servingModel,
} from '../memory-index/records.ts'
import { type Build, buildIndex } from './build.ts'
import { countAll } from './counts.ts'
import { dropOtherVectors, ensureVectors, finishVectors, type VectorTable } from './models.ts'
import { Pace } from './pace.ts'
import { prepareSchema } from './schema.ts'
import { readStanding, storeStanding } from './standing.ts'
import { Texts } from './texts.ts'
import { closedProducts, type Writing, writeProducts } from './write.ts'

const ROWS_AT_ONCE = 200
/** In the first load, when there is no index yet that each row would have to be added to. */
const ROWS_AT_FIRST = 1_000
/** The serving model is checked once in this many polls. */
const POLLS_TO_MODEL = 4
/** Where it stands is stored once in this many polls. */
const POLLS_TO_STORE = 40
/** After this many polls no replica reads the vectors of the former model any more. */
const POLLS_TO_DROP = 40

export interface KeepOptions {
  databaseUrl: string
  chainIds: readonly number[]
  configuredId: string | undefined
  pollMs: number
  /** Tells how far a first load is. */
  progress: Build['progress']
  watcher?: Build['watcher']
  /** Called when everything visible a moment ago has been written. */
  onKept(): void
}

/** Ends when the signal is aborted. While another replica is the leader, it waits. */
export async function keepTables(options: KeepOptions, signal: AbortSignal): Promise<void> {
  const { databaseUrl, onKept } = options
  const work = async (leadership: Leadership) => {
    await prepareSchema(leadership.sql)
    const keeper = new Keeper(leadership, options)
    await keeper.start(signal)
    while (!signal.aborted) {
      onKept()
      await sleep(options.pollMs, undefined, { signal }).catch(() => {})
      await keeper.poll(signal)
    }
  }
  await lead({ databaseUrl, lock: 'referrer search', signal, onStandby: onKept }, work).catch((error) => {
    if (!signal.aborted) throw error
  })
}

/** What has been written: the vectors of which model, up to which snapshot. */
interface Kept {
  embedderId: string | undefined
  dims: number
  tables: ReadonlyMap<number, VectorTable>
  /** False during the first load, which counts everything at its end. */
  isCounting: boolean
  snapshot: string
}

export class Keeper {
  readonly #sql: Sql
  readonly #transaction: Leadership['transaction']
  readonly #chainIds: readonly number[]
  readonly #configuredId: string | undefined
  readonly #build: Build
  readonly #texts = new Texts()
  #kept: Kept | undefined
  #polls = 0

  constructor(
    { sql, transaction }: Leadership,
    {
      chainIds,
      configuredId,
      progress,
      watcher,
    }: Pick<KeepOptions, 'chainIds' | 'configuredId' | 'progress' | 'watcher'>,
  ) {
    this.#build = { progress, watcher }
    this.#sql = sql
    this.#transaction = transaction
    this.#chainIds = chainIds
    this.#configuredId = configuredId
  }

  /** Goes on where the tables stand, or compares everything. */
  async start(signal: AbortSignal): Promise<void> {
    const { embedderId, dims, tables } = await this.#prepare()
    const snapshot = await readStanding(this.#sql, this.#chainIds, embedderId)
    if (snapshot === undefined) return this.loadAll(signal)
    // An earlier version built fewer indexes.
    for (const table of tables.values()) await finishVectors(this.#sql, table, this.#build)
    this.#kept = { embedderId, dims, tables, isCounting: true, snapshot }
    await this.#follow(this.#kept)
  }

  /** The tables of the serving model. */
  async #prepare(): Promise<Pick<Kept, 'embedderId' | 'dims' | 'tables'>> {
    const sql = this.#sql
    const { embedderId, dims } = await servingModel(sql, this.#configuredId)
    const tables = new Map<number, VectorTable>()
    for (const chainId of this.#chainIds) {
      await sql`INSERT INTO search.catalogues (chain_id) VALUES (${chainId}) ON CONFLICT DO NOTHING`
      if (embedderId !== undefined && dims > 0) {
        tables.set(chainId, await ensureVectors(sql, chainId, { embedderId, dims }))
      }
    }
    return { embedderId, dims, tables }
  }

  /**
   * Compares everything, with the vectors of the serving model. Meanwhile the former tables keep answering and are
   * kept up to date.
   */
  async loadAll(signal: AbortSignal): Promise<void> {
    const sql = this.#sql
    const { embedderId, dims, tables } = await this.#prepare()
    const isFirst = !(await this.#isReady())
    const next: Kept = {
      embedderId,
      dims,
      tables,
      isCounting: !isFirst,
      snapshot: await currentSnapshot(sql),
    }
    for (const chainId of this.#chainIds) {
      let written = 0
      const pace = new Pace(await countOpen(sql, chainId), (line) =>
        this.#build.progress(`products of chain ${chainId}: ${line}, then the indexes are built`),
      )
      for await (const rows of openProducts(
        sql,
        chainId,
        embedderId,
        isFirst ? ROWS_AT_FIRST : ROWS_AT_ONCE,
      )) {
        signal.throwIfAborted()
        await this.#write(rows, next)
        if (this.#kept) await this.#follow(this.#kept)
        written += rows.length
        pace.reached(written)
      }
      await this.#dropClosed(chainId, next)
    }
    await buildIndex(sql, this.#build, {
      table: 'search.products',
      name: 'products_by_list',
      // Without a pending list, which every search would have to read.
      using: 'gin (lists) WITH (fastupdate = off)',
      rowBytes: 1_000,
    })
    if (isFirst) {
      this.#build.progress('counting the entries of all lists')
      await this.#transaction(countAll)
      next.isCounting = true
    }
    await buildIndex(sql, this.#build, {
      table: 'search.words',
      name: 'words_by_letters',
      using: 'gin (word gin_trgm_ops) WITH (fastupdate = off)',
      rowBytes: 1_000,
    })
    await this.#follow(next)
    for (const table of tables.values()) await finishVectors(sql, table, this.#build)
    await this.#follow(next)
    await sql`UPDATE search.catalogues SET is_ready = true WHERE chain_id = ANY(${[...this.#chainIds]}::bigint[])`
    await storeStanding(sql, this.#chainIds, next)
    this.#kept = next
    this.#polls = 0
  }

  async #isReady(): Promise<boolean> {
    const chainIds = [...this.#chainIds]
    const { count } = await this.#sql`
      SELECT FROM search.catalogues WHERE is_ready AND chain_id = ANY(${chainIds}::bigint[])`
    return count === chainIds.length
  }

  async poll(signal: AbortSignal): Promise<void> {
    if (!this.#kept) return this.loadAll(signal)
    await this.#follow(this.#kept)
    this.#polls += 1
    if (this.#polls === POLLS_TO_DROP) await dropOtherVectors(this.#sql, [...this.#kept.tables.values()])
    if (this.#polls % POLLS_TO_STORE === 0) {
      await storeStanding(this.#sql, this.#chainIds, this.#kept)
    }
    if (this.#polls % POLLS_TO_MODEL !== 0) return
    const { embedderId, dims } = await servingModel(this.#sql, this.#configuredId)
    if (embedderId !== this.#kept.embedderId || dims !== this.#kept.dims) await this.loadAll(signal)
  }

  async #follow(kept: Kept): Promise<void> {
    const now = await currentSnapshot(this.#sql)
    if (now === kept.snapshot) return
    for await (const rows of changedProducts(
      this.#sql,
      this.#chainIds,
      kept.embedderId,
      kept.snapshot,
      ROWS_AT_ONCE,
    )) {
      await this.#write(rows, kept)
    }
    kept.snapshot = now
  }

  async #write(rows: readonly ListedRow[], kept: Kept): Promise<void> {
    for (const [chainId, own] of Map.groupBy(rows, ({ chain_id }) => chain_id)) {
      const open = own.flatMap((row) => productOf(row) ?? [])
      await this.#transaction((tx) =>
        writeProducts(tx, chainId, own.map(keyOfRow), open, this.#writing(chainId, kept)),
      )
    }
  }

  /** Removes products that were closed while no replica kept the tables. */
  async #dropClosed(chainId: number, kept: Kept): Promise<void> {
    for (;;) {
      const closed = await closedProducts(this.#sql, chainId, ROWS_AT_ONCE)
      if (closed.length === 0) return
      await this.#transaction((tx) => writeProducts(tx, chainId, closed, [], this.#writing(chainId, kept)))
    }
  }

  #writing(chainId: number, { tables, isCounting }: Kept): Writing {
    return { vectors: tables.get(chainId), texts: this.#texts, isCounting }
  }
}

async function countOpen(sql: Sql, chainId: number): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    SELECT count(*)::integer AS count FROM market.listings WHERE chain_id = ${chainId} AND is_open`
  return row.count
}
