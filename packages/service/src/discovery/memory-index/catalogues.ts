// The searchable products by chain: one catalogue for each, loaded together and updated together.
import { setImmediate as turn } from 'node:timers/promises'
import type { Queryable } from '@referrer/database'
import { Catalogue, type Explained, type Hit, type Question, readCells } from '@referrer/search'
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

const ROWS_AT_ONCE = 1_000
const ROWS_A_PAGE = 5_000
/** Rows are added in slices of this length, so that a search never waits longer. */
const SLICE_MS = 5

export class Catalogues {
  readonly model: Model
  readonly #byChain: ReadonlyMap<number, Catalogue>
  /** Everything visible in this snapshot is in the catalogues. */
  #snapshot: string

  private constructor(model: Model, byChain: ReadonlyMap<number, Catalogue>, snapshot: string) {
    this.model = model
    this.#byChain = byChain
    this.#snapshot = snapshot
  }

  /** Loads everything. `meanwhile` is called after each page. */
  static async load(
    sql: Queryable,
    chainIds: readonly number[],
    model: Model,
    meanwhile: () => Promise<void>,
  ): Promise<Catalogues> {
    // Taken before loading: changes made while loading are read again at the end.
    const snapshot = await currentSnapshot(sql)
    const byChain = new Map<number, Catalogue>()
    for (const chainId of chainIds) {
      const catalogue = new Catalogue()
      byChain.set(chainId, catalogue)
      // Cells are set while the catalogue is empty, so that each product goes straight into its cell. Regrouping all
      // of them later would block the thread.
      const points =
        model.embedderId !== undefined &&
        model.cells.has(chainId) &&
        (await readPoints(sql, chainId, model.embedderId))
      if (points) catalogue.useCells(readCells(points))
    }
    const catalogues = new Catalogues(model, byChain, snapshot)
    for (const [chainId, catalogue] of byChain) {
      catalogue.start()
      await readOpenProducts(sql, chainId, model.embedderId, {
        most: ROWS_A_PAGE,
        onProduct: (product) => catalogue.put(product),
        onPage: meanwhile,
      })
      await catalogue.finish(turn)
    }
    await catalogues.follow(sql)
    return catalogues
  }

  /** Applies all changes since the last call. */
  async follow(sql: Queryable): Promise<void> {
    const now = await currentSnapshot(sql)
    if (now === this.#snapshot) return
    const chainIds = [...this.#byChain.keys()]
    for await (const rows of changedProducts(
      sql,
      chainIds,
      this.model.embedderId,
      this.#snapshot,
      ROWS_AT_ONCE,
    )) {
      await this.#put(rows)
    }
    this.#snapshot = now
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

  sizes(): { chainId: number; products: number }[] {
    return [...this.#byChain].map(([chainId, { size }]) => ({ chainId, products: size }))
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
