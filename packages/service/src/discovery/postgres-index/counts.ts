import type { Transaction } from '@referrer/database'
import { HEARSAY } from '@referrer/search'

/** Differences in the number of products that use each term and each word. */
export class Counts {
  readonly terms = new Map<string, { users: number; heard: number }>()
  readonly words = new Map<string, number>()

  add(worths: Iterable<[string, number]>, spelt: Iterable<string>, change: 1 | -1): void {
    for (const [term, worth] of worths) {
      const count = this.terms.get(term) ?? { users: 0, heard: 0 }
      count[worth <= HEARSAY ? 'heard' : 'users'] += change
      this.terms.set(term, count)
    }
    for (const word of spelt) this.words.set(word, (this.words.get(word) ?? 0) + change)
  }
}

export async function writeCounts(
  tx: Transaction,
  chainId: number,
  { terms, words }: Counts,
  products: number,
): Promise<void> {
  const changed = [...terms].filter(([, { users, heard }]) => users !== 0 || heard !== 0)
  const names = changed.map(([term]) => term)
  if (changed.length > 0) {
    await tx`
      INSERT INTO search.terms AS t (chain_id, term, users, heard)
      SELECT ${chainId}, * FROM unnest(${names}::text[], ${changed.map(([, { users }]) => users)}::integer[],
        ${changed.map(([, { heard }]) => heard)}::integer[])
      ON CONFLICT (chain_id, term) DO UPDATE SET users = t.users + excluded.users, heard = t.heard + excluded.heard`
    await tx`
      DELETE FROM search.terms WHERE chain_id = ${chainId} AND term = ANY(${names}::text[]) AND users = 0 AND heard = 0`
  }
  const spelt = [...words].filter(([, users]) => users !== 0)
  const spellings = spelt.map(([word]) => word)
  if (spelt.length > 0) {
    await tx`
      INSERT INTO search.words AS w (chain_id, word, users)
      SELECT ${chainId}, * FROM unnest(${spellings}::text[], ${spelt.map(([, users]) => users)}::integer[])
      ON CONFLICT (chain_id, word) DO UPDATE SET users = w.users + excluded.users`
    await tx`DELETE FROM search.words WHERE chain_id = ${chainId} AND word = ANY(${spellings}::text[]) AND users = 0`
  }
  if (products !== 0) {
    await tx`UPDATE search.catalogues SET size = size + ${products}::integer WHERE chain_id = ${chainId}`
  }
}
