import type { Queryable } from '@referrer/database'
import { findShortlisted, type ProductRow, type PublishedRow } from './store.ts'

/** Loads the shortlisted reviews of products, once for each product. */
export class Shortlists {
  readonly #sql: Queryable
  readonly #chainId: number
  readonly #embedderId: string | undefined
  readonly #rows = new Map<string, PublishedRow[]>()

  constructor(sql: Queryable, chainId: number, embedderId: string | undefined) {
    this.#sql = sql
    this.#chainId = chainId
    this.#embedderId = embedderId
  }

  /**
   * Loads the products by their index keys. A product is loaded again only if `row` has another review count: then
   * its listing has changed since the prefetch.
   */
  async read(products: readonly { key: string; row?: Pick<ProductRow, 'review_count'> }[]): Promise<void> {
    const keys = products.filter(({ key, row }) => !this.#has(key, row?.review_count)).map(({ key }) => key)
    if (keys.length === 0) return
    const rows = await findShortlisted(this.#sql, this.#chainId, keys, this.#embedderId)
    for (const key of keys) this.#rows.set(key, [])
    for (const row of rows) this.#rows.get(keys[row.at] as string)?.push(row)
  }

  #has(key: string, count: number | undefined): boolean {
    const rows = this.#rows.get(key)
    return rows !== undefined && (count === undefined || count === (rows[0]?.review_count ?? 0))
  }

  of(key: string): readonly PublishedRow[] {
    return this.#rows.get(key) ?? []
  }
}
