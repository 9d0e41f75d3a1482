import type { Queryable } from '@referrer/database'
import { findShortlisted, type PublishedRow } from './store.ts'

/** The reviews of products that may be shown, read once for each product. */
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

  /** Products by their keys in an index; of those that were read before nothing is read. */
  async read(keys: readonly string[]): Promise<void> {
    const unread = keys.filter((key) => !this.#rows.has(key))
    if (unread.length === 0) return
    const rows = await findShortlisted(this.#sql, this.#chainId, unread, this.#embedderId)
    for (const key of unread) this.#rows.set(key, [])
    for (const row of rows) this.#rows.get(unread[row.at] as string)?.push(row)
  }

  of(key: string): readonly PublishedRow[] {
    return this.#rows.get(key) ?? []
  }
}
