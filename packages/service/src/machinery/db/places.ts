import type { Queryable } from '@referrer/database'

const STRETCH = 1_000
/** No id is higher. */
const LAST = 2n ** 63n - 1n

/**
 * Where the page with this offset begins in a list that is ordered by its ids: which stretch of them, and how far into that. A part of a
 * WITH, and its values: the first id of the stretch, the one after its last, and how many to skip in it; all null beyond the end.
 */
export function placeOf(
  sql: Queryable,
  chainId: number,
  what: 'agents' | 'published reviews',
  offset: number | bigint,
  order: 'ASC' | 'DESC',
) {
  // The first pages have little to skip.
  if (offset < STRETCH)
    return {
      place: sql`place AS (SELECT)`,
      from: sql`0`,
      to: sql`${LAST}::bigint`,
      skip: sql`${offset}::bigint`,
    }
  const direction = order === 'ASC' ? sql`ASC` : sql`DESC`
  return {
    place: sql`place AS (
      SELECT stretch * ${STRETCH} AS first_id, (stretch + 1) * ${STRETCH} AS end_id, (${offset}::bigint - before)::bigint AS skip
      FROM (
        SELECT stretch, count, sum(count) OVER (ORDER BY stretch ${direction}) - count AS before
        FROM market.places WHERE chain_id = ${chainId} AND what = ${what}) AS stretches
      WHERE ${offset}::bigint >= before AND ${offset}::bigint < before + count)`,
    from: sql`(SELECT first_id FROM place)`,
    to: sql`(SELECT end_id FROM place)`,
    skip: sql`(SELECT skip FROM place)`,
  }
}
