import type { Transaction } from '@referrer/database'

const KEPT = 1_000_000

/**
 * The numbers of terms or of words, which this process alone gives out. Whoever loses a transaction has to begin with
 * another object, because numbers of that transaction may be cached.
 */
export class Numbers {
  readonly #name: 'term' | 'word'
  /** By chain. */
  readonly #known = new Map<number, Map<string, number>>()

  constructor(name: 'term' | 'word') {
    this.#name = name
  }

  /** Gives numbers to new texts. */
  async of(tx: Transaction, chainId: number, texts: Iterable<string>): Promise<(text: string) => number> {
    const known = this.#knownOf(chainId)
    const unknown = new Set<string>()
    for (const text of texts) if (!known.has(text)) unknown.add(text)
    await this.#read(tx, chainId, [...unknown])
    const added = [...unknown].filter((text) => !known.has(text))
    if (added.length > 0) {
      await tx`
        INSERT INTO ${tx(`search.${this.#name}s`)} (chain_id, ${tx(this.#name)})
        SELECT ${chainId}, * FROM unnest(${added}::text[])`
      await this.#read(tx, chainId, added)
    }
    return (text) => known.get(text) as number
  }

  #knownOf(chainId: number): Map<string, number> {
    const known = this.#known.get(chainId)
    if (known && known.size <= KEPT) return known
    const empty = new Map<string, number>()
    this.#known.set(chainId, empty)
    return empty
  }

  async #read(tx: Transaction, chainId: number, texts: readonly string[]): Promise<void> {
    if (texts.length === 0) return
    const rows = await tx<{ text: string; number: number }[]>`
      SELECT ${tx(this.#name)} AS text, number FROM ${tx(`search.${this.#name}s`)}
      WHERE chain_id = ${chainId} AND ${tx(this.#name)} = ANY(${[...texts]}::text[])`
    const known = this.#known.get(chainId)
    for (const { text, number } of rows) known?.set(text, number)
  }
}
