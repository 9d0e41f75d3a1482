// The same walk as `standingOf` of packages/ranking, in SQL.
import type { Sql } from '@referrer/database'
import { dayOf, inflationOf } from '@referrer/ranking'
import { CHAIN_ID, NOW } from './fill.ts'

/** Makes the tables that the rounds work on. */
export async function beginPlainly(sql: Sql): Promise<void> {
  for (const statement of [
    `CREATE TEMP TABLE entries AS SELECT owner, merchant_id, div(spent, ${inflationOf(dayOf(NOW))})::bigint AS spent
     FROM market.spent_at_shops WHERE chain_id = ${CHAIN_ID}`,
    `CREATE TEMP TABLE shops AS
     SELECT merchant_id, sum(spent) AS revenue, merchant_id % 2 = 0 AS is_verified,
       CASE WHEN merchant_id % 2 = 0 THEN 1000000 ELSE 0 END::bigint AS standing
     FROM entries GROUP BY merchant_id`,
    'CREATE TEMP TABLE owners (owner bytea, spent numeric, standing bigint)',
    'ANALYZE entries, shops',
  ])
    await sql.unsafe(statement)
}

/** From the shops to the owners and back. */
export async function walkPlainly(sql: Sql): Promise<void> {
  for (const statement of [
    'TRUNCATE owners',
    `INSERT INTO owners
     SELECT e.owner, sum(e.spent), div(sum(e.spent * s.standing / 1000000) * 1000000, sum(e.spent))
     FROM entries AS e JOIN shops AS s USING (merchant_id) GROUP BY e.owner`,
    'ANALYZE owners',
    `UPDATE shops AS s SET standing = div(div(p.passed * 1000000, s.revenue) * 80, 100)
     FROM (
       SELECT e.merchant_id, sum(least(e.spent, div(o.spent, 10)::bigint) * o.standing / 1000000) AS passed
       FROM entries AS e JOIN owners AS o USING (owner) GROUP BY e.merchant_id) AS p
     WHERE p.merchant_id = s.merchant_id AND NOT s.is_verified`,
  ])
    await sql.unsafe(statement)
}

/** How many owners and shops the walk gives another standing than the pass. */
export async function countDifferent(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    SELECT count(*)::integer AS count FROM (
      (SELECT owner, standing FROM owners EXCEPT SELECT owner, standing FROM market.owner_standings)
      UNION ALL (SELECT owner, standing FROM market.owner_standings EXCEPT SELECT owner, standing FROM owners)
      UNION ALL (SELECT int8send(merchant_id), standing FROM shops
        EXCEPT SELECT int8send(merchant_id), standing FROM market.shop_standings)) AS different`
  return row?.count ?? Number.NaN
}
