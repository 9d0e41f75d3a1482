import type { Queryable } from '@referrer/database'

/** Where figures that are counted row by row stop: a larger figure tells an operator nothing more. */
export const COUNTED = 10_000

/** How many there are of something; kept with every change, so that asking costs one row. */
export async function countOf(
  sql: Queryable,
  chainId: number,
  what: 'agents' | 'merchants' | 'published reviews',
): Promise<bigint> {
  const [row] = await sql<{ count: bigint }[]>`
    SELECT count FROM market.counts WHERE chain_id = ${chainId} AND what = ${what}`
  return row?.count ?? 0n
}
