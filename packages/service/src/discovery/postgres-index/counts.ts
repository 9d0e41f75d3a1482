import type { Transaction } from '@referrer/database'

/** Differences in the number of products in each list, and of those that use each word. */
export class Counts {
  readonly lists = new Map<number, number>()
  readonly words = new Map<number, number>()

  add(lists: Iterable<number>, spelt: Iterable<number>, change: 1 | -1): void {
    for (const list of lists) this.lists.set(list, (this.lists.get(list) ?? 0) + change)
    for (const word of spelt) this.words.set(word, (this.words.get(word) ?? 0) + change)
  }
}

const different = (counts: ReadonlyMap<number, number>): [number[], number[]] => {
  const changed = [...counts].filter(([, count]) => count !== 0)
  return [changed.map(([number]) => number), changed.map(([, count]) => count)]
}

export async function writeCounts(
  tx: Transaction,
  chainId: number,
  { lists, words }: Counts,
  products: number,
): Promise<void> {
  const [changed, entries] = different(lists)
  if (changed.length > 0) {
    await tx`
      INSERT INTO search.lengths AS l (list, entries)
      SELECT * FROM unnest(${changed}::integer[], ${entries}::integer[])
      ON CONFLICT (list) DO UPDATE SET entries = l.entries + excluded.entries`
    await tx`DELETE FROM search.lengths WHERE list = ANY(${changed}::integer[]) AND entries = 0`
  }
  const [spelt, users] = different(words)
  if (spelt.length > 0) {
    await tx`
      UPDATE search.words AS w SET users = w.users + k.users
      FROM unnest(${spelt}::integer[], ${users}::integer[]) AS k (number, users) WHERE w.number = k.number`
  }
  if (products !== 0) {
    await tx`UPDATE search.catalogues SET size = size + ${products}::integer WHERE chain_id = ${chainId}`
  }
}

/** Counts everything again. Much faster than counting with every write, for the first load. */
export async function countAll(tx: Transaction): Promise<void> {
  await tx`SELECT set_config('statement_timeout', '0', true), set_config('work_mem', '256MB', true)`
  // Not TRUNCATE: searches in other chains go on meanwhile.
  await tx`DELETE FROM search.lengths`
  await tx`
    INSERT INTO search.lengths (list, entries)
    SELECT list, count(*) FROM search.products CROSS JOIN unnest(lists) AS list GROUP BY list`
  await tx`
    UPDATE search.words AS w SET users = coalesce(k.users, 0)
    FROM search.words AS all_words LEFT JOIN (
      SELECT number, count(*) AS users FROM search.documents CROSS JOIN unnest(spelt) AS number GROUP BY number
    ) AS k USING (number)
    WHERE w.number = all_words.number`
  await tx`
    UPDATE search.catalogues AS c SET size = (SELECT count(*) FROM search.products AS p WHERE p.chain_id = c.chain_id)`
  // Autovacuum would come too late: without statistics the first searches scan whole tables.
  await tx`ANALYZE search.documents, search.terms, search.lengths`
}
