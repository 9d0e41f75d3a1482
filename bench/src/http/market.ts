import { connect, migrate, type PostgresServer } from '@referrer/database'
import { migrations } from '@referrer/service'
import { fillMarket } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'

export const CHAIN_ID = 8453

export type FilledMarket = { databaseUrl: string; rows: number }

/** Makes a database with about this many rows of each kind that is measured. */
export async function createFilledMarket(server: PostgresServer, rows: number): Promise<FilledMarket> {
  const databaseUrl = await createDatabase(server, `market_${rows}`)
  const sql = connectPatiently(databaseUrl, 2)
  try {
    await migrate(sql, migrations)
    await fillMarket(sql, CHAIN_ID, rows, { hasShops: false })
  } finally {
    await sql.end()
  }
  return { databaseUrl, rows }
}

/** The ids of some published reviews, from all over. */
export async function someReviews({ databaseUrl }: FilledMarket, count: number): Promise<bigint[]> {
  const sql = connect(databaseUrl, { max: 1, name: 'bench' })
  try {
    const rows = await sql<{ review_id: bigint }[]>`
      SELECT c.review_id FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
      WHERE m.content IS NOT NULL ORDER BY md5(c.review_id::text) LIMIT ${count}`
    return rows.map(({ review_id }) => review_id)
  } finally {
    await sql.end()
  }
}
