// Puts the records of the snapshot into a new database, and does what waits for everything else to run.
import { setTimeout as sleep } from 'node:timers/promises'
import { developmentAccount } from '@referrer/contracts/local'
import { connect, migrate, type Sql } from '@referrer/database'
import { migrations } from '@referrer/service'
import { callerOf } from '../caller.ts'
import { REVIEWERS } from './cast.ts'
import { type Row, SHOP_URL, type Snapshot } from './snapshot.ts'
import { columnsOf, TABLES } from './tables.ts'

/** They would ask shops that are not open yet for their prices, and settle escrows before the opinions of all buyers are compared. */
const HELD = [
  { name: 'refresh-offers', every_seconds: 5 },
  { name: 'settle-escrows', every_seconds: 15 },
]
const REASON =
  'My review is about the shop as it was in my first week. Those who say otherwise bought later, and I stand by what I saw.'

async function withDatabase<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = connect(url, { max: 2, name: 'sandbox' })
  try {
    return await work(sql)
  } finally {
    await sql.end()
  }
}

/** Before the service starts: it finds the records as if it had been stopped and its chain forgotten. */
export const loadRows = (
  databaseUrl: string,
  { rows }: Snapshot,
  { endsAt, shopUrl }: { endsAt: number; shopUrl: string },
): Promise<void> =>
  withDatabase(databaseUrl, async (sql) => {
    await migrate(sql, migrations)
    for (const table of TABLES) {
      const { all, times, identity } = await columnsOf(sql, table)
      const moved = (row: Row) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => [
            name,
            times.includes(name) && typeof value === 'number' ? new Date(endsAt + value) : value,
          ]),
        )
      const json = JSON.stringify((rows[table] ?? []).map(moved)).replaceAll(SHOP_URL, shopUrl)
      await sql`
        INSERT INTO ${sql(table)} (${sql(all)}) OVERRIDING SYSTEM VALUE
        SELECT ${sql(all)} FROM jsonb_populate_recordset(NULL::${sql(table)}, ${json}::text::jsonb)`
      if (identity)
        await sql`
          SELECT setval(pg_get_serial_sequence(${table}, ${identity}), max(${sql(identity)})) FROM ${sql(table)}`
    }
    await sql`INSERT INTO jobs.schedules ${sql(HELD)}`
    await sql`UPDATE jobs.schedules SET next_run_at = 'infinity'`
  })

/**
 * Holds the lock of those who derive from the records, until the connection is closed. While the whole chain is indexed at once, the two
 * would lock the rows of products against each other.
 */
export async function holdFollowers(databaseUrl: string, chainId: number): Promise<Sql> {
  const sql = connect(databaseUrl, { max: 1, name: 'sandbox' })
  await sql`SELECT pg_advisory_lock(hashtextextended(${`following/${chainId}`}, 0))`
  return sql
}

/** When all runs: a reviewer whom buyers contradict disputes it, and the oracle settles the escrows whose windows have ended. */
export const finishDemo = ({
  databaseUrl,
  baseUrl,
}: {
  databaseUrl: string
  baseUrl: string
}): Promise<void> =>
  withDatabase(databaseUrl, async (sql) => {
    await until(() => isFollowed(sql))
    await dispute(sql, baseUrl)
    await sql`UPDATE jobs.schedules SET next_run_at = now() WHERE next_run_at = 'infinity'`
    // The schedule closes in a later run what it has settled. Its next run would be up to 15 seconds away.
    while (!(await isSettled(sql))) {
      await sql`UPDATE jobs.schedules SET next_run_at = now() WHERE name = 'settle-escrows' AND next_run_at > now()`
      await sleep(250)
    }
  })

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(50)
}

/** Everything that derives from the records is up to date. */
export async function isFollowed(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ is_idle: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM market.pending_changes)
      AND NOT EXISTS (SELECT FROM market.comparisons_under_way) AS is_idle`
  return row?.is_idle === true
}

async function isSettled(sql: Sql): Promise<boolean> {
  const [row] = await sql<{ is_settled: boolean }[]>`
    SELECT NOT EXISTS (SELECT FROM market.escrow_decisions WHERE is_open) AND NOT EXISTS (
      SELECT FROM chain.escrows AS e
      LEFT JOIN chain.reviews AS c USING (chain_id, review_id)
      LEFT JOIN market.reviews AS m USING (internal_id)
      JOIN indexer.checkpoints AS k ON k.chain_id = e.chain_id AND e.window_end <= k.block_time
      WHERE e.settled_at IS NULL AND e.held_back > 0
        AND m.comparison_outcome IS DISTINCT FROM 'disputed') AS is_settled`
  return row?.is_settled === true
}

/** One of those who praise or damn a shop whatever it sells. */
async function dispute(sql: Sql, baseUrl: string): Promise<void> {
  const accounts = REVIEWERS.filter(({ honesty }) => ['slanderer', 'shill'].includes(honesty)).map(
    ({ index }) => developmentAccount(index),
  )
  const owners = accounts.map(({ address }) => Buffer.from(address.slice(2), 'hex'))
  const [review] = await sql<{ review_id: bigint; author_owner: Buffer }[]>`
    SELECT c.review_id, m.author_owner FROM chain.reviews AS c JOIN market.reviews AS m USING (internal_id)
    WHERE m.comparison_outcome = 'contradicted' AND m.author_owner = any(${owners}::bytea[])
    ORDER BY array_position(${owners}::bytea[], m.author_owner) DESC, c.review_id LIMIT 1`
  const author = accounts[owners.findIndex((owner) => review && owner.equals(review.author_owner))]
  if (!review || !author)
    throw new Error('buyers contradict none of the false reviews: the demo needs another seed')
  await callerOf(baseUrl).post(author, `/v1/review/${review.review_id}/dispute`, { reason: REASON })
}
