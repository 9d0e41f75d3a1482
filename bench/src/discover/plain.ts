// What one would do without a service of one's own: the full-text search of Postgres over the same products.
import type { Sql } from '@referrer/database'
import type { Intent } from './market.ts'

export async function indexPlainly(sql: Sql): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`SET LOCAL statement_timeout = 0`
    await tx`SET LOCAL maintenance_work_mem = '512MB'`
    await tx`DROP TABLE IF EXISTS plain`
    await tx.unsafe(`
      CREATE UNLOGGED TABLE plain AS
      SELECT p.merchant_id, p.product_id, p.category, coalesce(o.price, c.min_price) AS price,
        setweight(to_tsvector('english', p.name), 'A') || setweight(to_tsvector('english', p.category), 'B')
          || setweight(to_tsvector('english', p.description), 'C') AS words
      FROM market.products AS p JOIN chain.products AS c USING (chain_id, merchant_id, product_id)
      LEFT JOIN market.offers AS o USING (chain_id, merchant_id, product_id) WHERE c.active`)
    await tx`CREATE INDEX plain_by_words ON plain USING gin (words)`
    await tx`CREATE INDEX plain_by_category ON plain (category)`
  })
  await sql`ANALYZE plain`
}

export function findPlainly(sql: Sql, { text, category, ceiling }: Intent): Promise<unknown> {
  const words = text.match(/\w+/g)?.join(' | ') ?? ''
  return sql`
    SELECT merchant_id, product_id, ts_rank(words, query) AS score
    FROM plain, to_tsquery('english', ${words}) AS query
    WHERE words @@ query ${category === undefined ? sql`` : sql`AND category = ${category}`}
      ${ceiling === undefined ? sql`` : sql`AND price <= ${ceiling}`}
    ORDER BY score DESC LIMIT 5`
}
