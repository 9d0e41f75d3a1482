import type { Queryable } from '@referrer/database'

/** market.range_counts has one count for so many ids. */
const RANGE = 1_000
/** No id is higher. */
const LAST = 2n ** 63n - 1n

/**
 * Where the page with this offset starts in a list that is ordered by its ids, so that a deep offset does not read what it skips. `start`
 * is a part of a WITH; the others are its values: the first id of the range in which the page starts, the id after the range's last, and
 * how many to skip in it; all null beyond the end of the list.
 */
export function pageStart(
  sql: Queryable,
  chainId: number,
  what: 'agents' | 'published reviews',
  offset: number | bigint,
  order: 'ASC' | 'DESC',
) {
  // The first pages have little to skip.
  if (offset < RANGE)
    return {
      start: sql`page_start AS (SELECT)`,
      from: sql`0`,
      to: sql`${LAST}::bigint`,
      skip: sql`${offset}::bigint`,
    }
  const direction = order === 'ASC' ? sql`ASC` : sql`DESC`
  return {
    start: sql`page_start AS (
      SELECT id_range * ${RANGE} AS first_id, (id_range + 1) * ${RANGE} AS end_id, (${offset}::bigint - before)::bigint AS skip
      FROM (
        SELECT id_range, count, sum(count) OVER (ORDER BY id_range ${direction}) - count AS before
        FROM market.range_counts WHERE chain_id = ${chainId} AND what = ${what}) AS ranges
      WHERE ${offset}::bigint >= before AND ${offset}::bigint < before + count)`,
    from: sql`(SELECT first_id FROM page_start)`,
    to: sql`(SELECT end_id FROM page_start)`,
    skip: sql`(SELECT skip FROM page_start)`,
  }
}
