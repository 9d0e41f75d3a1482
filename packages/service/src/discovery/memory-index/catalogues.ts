// The searchable products by chain: one catalogue for each, loaded together and updated together.
import { setImmediate as turn } from 'node:timers/promises'
import type { Queryable, Sql } from '@referrer/database'
import { Catalogue, type Cells, type Explained, type Hit, type Question, readCells } from '@referrer/search'
import {
  changedProducts,
  currentSnapshot,
  keyOfRow,
  type ListedRow,
  type Model,
  productOf,
  readOpenProducts,
  readPoints,
} from './records.ts'
import { dropSnapshot, findSnapshot, keepSnapshot, readSnapshot, type Snapshot } from './snapshots.ts'

const ROWS_AT_ONCE = 1_000
const ROWS_A_PAGE = 5_000
/** Rows are added in slices of this length, so that a search never waits longer. */
const SLICE_MS = 5

export interface Loading {
  /** Called after each page. */
  meanwhile(): Promise<void>
  /** There was a snapshot, but it could not be read. */
  onUnreadable(error: unknown): void
}

export class Catalogues {
  readonly model: Model
  readonly #byChain: Map<number, Catalogue>
  /** Chains that were read from a snapshot, not product by product. */
  readonly #restored = new Set<number>()
  /** Everything visible in this snapshot is in the catalogues. */
  #snapshot: string

  private constructor(model: Model, byChain: Map<number, Catalogue>, snapshot: string) {
    this.model = model
    this.#byChain = byChain
    this.#snapshot = snapshot
  }

  /** Loads everything. */
  static async load(
    sql: Queryable,
    chainIds: readonly number[],
    model: Model,
    loading: Loading,
  ): Promise<Catalogues> {
    // Taken before loading: changes made while loading are read again at the end.
    const snapshot = await currentSnapshot(sql)
    const catalogues = new Catalogues(model, new Map(), snapshot)
    for (const chainId of chainIds) {
      // Cells are set while the catalogue is empty, so that each product goes straight into its cell. Regrouping all
      // of them later would block the thread.
      const points =
        model.embedderId !== undefined && model.cells.has(chainId)
          ? await readPoints(sql, chainId, model.embedderId)
          : undefined
      const cells = points && readCells(points)
      if (!(await catalogues.#restore(sql, chainId, cells, loading)))
        await catalogues.#fill(sql, chainId, cells, loading)
    }
    await catalogues.follow(sql)
    return catalogues
  }

  #empty(chainId: number, cells: Cells | undefined): Catalogue {
    const catalogue = new Catalogue()
    if (cells) catalogue.useCells(cells)
    this.#byChain.set(chainId, catalogue)
    return catalogue
  }

  /** Reads the snapshot of a chain and what has changed since. False: there is none that can be used. */
  async #restore(
    sql: Queryable,
    chainId: number,
    cells: Cells | undefined,
    { onUnreadable }: Loading,
  ): Promise<boolean> {
    let snapshot: Snapshot | undefined
    try {
      snapshot = await findSnapshot(sql, chainId, this.model)
      if (!snapshot) return false
      await readSnapshot(sql, snapshot, this.#empty(chainId, cells))
    } catch (error) {
      // This fails, too, if the connection is lost.
      if (snapshot) await dropSnapshot(sql, snapshot)
      onUnreadable(
        new Error('the snapshot of the search index cannot be read; all products are loaded', {
          cause: error,
        }),
      )
      return false
    }
    await this.#change(sql, [chainId], snapshot.reached)
    this.#restored.add(chainId)
    return true
  }

  async #fill(
    sql: Queryable,
    chainId: number,
    cells: Cells | undefined,
    { meanwhile }: Loading,
  ): Promise<void> {
    const catalogue = this.#empty(chainId, cells)
    catalogue.start()
    await readOpenProducts(sql, chainId, this.model.embedderId, {
      most: ROWS_A_PAGE,
      onProduct: (product) => catalogue.put(product),
      onPage: meanwhile,
    })
    await catalogue.finish(turn)
  }

  /** Applies all changes since the last call. */
  async follow(sql: Queryable): Promise<void> {
    const now = await currentSnapshot(sql)
    if (now === this.#snapshot) return
    await this.#change(sql, [...this.#byChain.keys()], this.#snapshot)
    this.#snapshot = now
  }

  /** Writes a snapshot of each chain that has at least so many products, where one is due. Nothing may change meanwhile. */
  async keep(sql: Sql, least: number, signal: AbortSignal): Promise<void> {
    for (const [chainId, catalogue] of this.#byChain) {
      if (catalogue.size < least) continue
      await keepSnapshot(sql, { chainId, model: this.model, catalogue, reached: this.#snapshot }, signal)
    }
  }

  async #change(sql: Queryable, chainIds: readonly number[], since: string): Promise<void> {
    const { embedderId } = this.model
    for await (const rows of changedProducts(sql, chainIds, embedderId, since, ROWS_AT_ONCE))
      await this.#put(rows)
  }

  find(chainId: number, question: Question): Hit[] {
    return this.#byChain.get(chainId)?.find(this.#comparable(question)) ?? []
  }

  explain(chainId: number, question: Question): Explained | undefined {
    return this.#byChain.get(chainId)?.explain(this.#comparable(question))
  }

  /** A vector of another model cannot be compared; words alone decide. */
  #comparable(question: Question): Question {
    return question.vector?.length === this.model.dims ? question : { ...question, vector: undefined }
  }

  sizes(): { chainId: number; products: number; isRestored: boolean }[] {
    return [...this.#byChain].map(([chainId, { size }]) => ({
      chainId,
      products: size,
      isRestored: this.#restored.has(chainId),
    }))
  }

  async #put(rows: readonly ListedRow[]): Promise<void> {
    let begun = performance.now()
    for (const row of rows) {
      const catalogue = this.#byChain.get(row.chain_id)
      const product = productOf(row)
      if (product) catalogue?.put(product)
      else catalogue?.drop(keyOfRow(row))
      if (performance.now() - begun < SLICE_MS) continue
      await turn()
      begun = performance.now()
    }
  }
}
