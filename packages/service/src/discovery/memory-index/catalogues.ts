// What can be found, by chain: catalogues that were loaded together, and follow together what changes.
import { setImmediate as turn } from 'node:timers/promises'
import type { Queryable } from '@referrer/database'
import { Catalogue, type Hit, type Question, readCells } from '@referrer/search'
import {
  changedProducts,
  currentSnapshot,
  keyOfRow,
  type ListedRow,
  type Model,
  openProducts,
  productOf,
  readPoints,
} from './records.ts'

const ROWS_AT_ONCE = 1_000
/** Whoever asks something waits no longer than this for what is being put on the shelves. */
const SLICE_MS = 5

export class Shelves {
  readonly model: Model
  readonly #catalogues: ReadonlyMap<number, Catalogue>
  /** What can be seen in it is on the shelves. */
  #snapshot: string

  private constructor(model: Model, catalogues: ReadonlyMap<number, Catalogue>, snapshot: string) {
    this.model = model
    this.#catalogues = catalogues
    this.#snapshot = snapshot
  }

  /** All there is. `meanwhile` is called between the pages. */
  static async load(
    sql: Queryable,
    chainIds: readonly number[],
    model: Model,
    meanwhile: () => Promise<void>,
  ): Promise<Shelves> {
    // What changes while it is loaded is looked at once more afterwards.
    const snapshot = await currentSnapshot(sql)
    const catalogues = new Map<number, Catalogue>()
    for (const chainId of chainIds) {
      const catalogue = new Catalogue()
      catalogues.set(chainId, catalogue)
      // Before there is anything to group: each product goes to its place at once, and nobody waits for all of them to be moved.
      const points =
        model.embedderId !== undefined &&
        model.cells.has(chainId) &&
        (await readPoints(sql, chainId, model.embedderId))
      if (points) catalogue.useCells(readCells(points))
    }
    const shelves = new Shelves(model, catalogues, snapshot)
    for (const chainId of chainIds) {
      for await (const rows of openProducts(sql, chainId, model.embedderId, ROWS_AT_ONCE)) {
        await shelves.#put(rows)
        await meanwhile()
      }
    }
    await shelves.follow(sql)
    return shelves
  }

  /** Brings the shelves to the present. */
  async follow(sql: Queryable): Promise<void> {
    const now = await currentSnapshot(sql)
    if (now === this.#snapshot) return
    const chainIds = [...this.#catalogues.keys()]
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
    const { vector } = question
    // Asked with a vector of another model, words alone decide.
    const isFit = vector?.length === this.model.dims
    return this.#catalogues.get(chainId)?.find(isFit ? question : { ...question, vector: undefined }) ?? []
  }

  sizes(): { chainId: number; products: number }[] {
    return [...this.#catalogues].map(([chainId, { size }]) => ({ chainId, products: size }))
  }

  async #put(rows: readonly ListedRow[]): Promise<void> {
    let begun = performance.now()
    for (const row of rows) {
      const catalogue = this.#catalogues.get(row.chain_id)
      const product = productOf(row)
      if (product) catalogue?.put(product)
      else catalogue?.drop(keyOfRow(row))
      if (performance.now() - begun < SLICE_MS) continue
      await turn()
      begun = performance.now()
    }
  }
}
