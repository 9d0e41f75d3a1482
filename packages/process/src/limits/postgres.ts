import { connect, type MigrationSet } from '@referrer/database'
import type { Logger } from 'pino'
import { ROUNDING_MS, stepMsOf, takenOf } from './bucket.ts'
import type { Store, StoreOptions } from './store.ts'

/** The table of the buckets; programs that share a database share it too. */
export const limitsMigrations: MigrationSet = {
  name: 'limits',
  directory: new URL('../../migrations/', import.meta.url),
}

/** One connection for questions, and one for the sweeps. They are not of the pool, whose queries may all be slow. */
const CONNECTIONS = 2
const SWEEP_EVERY_MS = 10_000
const SWEPT_AT_ONCE = 10_000
/** Beyond it the clients whose buckets are nearly full are forgotten. A row takes some 380 bytes with its index and free space. */
const MOST_ROWS = 250_000

export interface PostgresStore extends Store {
  /** Deletes full buckets, which say nothing, and those that are too many. */
  sweep(mostRows?: number): Promise<void>
}

export function createPostgresStore(
  url: string,
  { clock, log }: StoreOptions & { log: Logger },
): PostgresStore {
  const open = () => connect(url, { max: CONNECTIONS, name: 'referrer limits' })
  let sql = open()
  let hasWritten = false
  const sweeps = setInterval(() => {
    if (!hasWritten) return
    hasWritten = false
    sweep().catch((err: unknown) => log.warn({ err }, 'full buckets of rate limits were not deleted'))
  }, SWEEP_EVERY_MS).unref()

  const moment = () =>
    clock ? sql`${clock()}::float8` : sql`(extract(epoch FROM clock_timestamp()) * 1000)::float8`

  /** In small steps, so that no question waits long for a row; it skips rows that are asked for at the moment. */
  async function sweep(mostRows = MOST_ROWS): Promise<void> {
    const steps = [
      () => sql`
        DELETE FROM limits.buckets WHERE key = ANY(ARRAY(
          SELECT key FROM limits.buckets WHERE full_at <= ${moment()} LIMIT ${SWEPT_AT_ONCE} FOR UPDATE SKIP LOCKED))`,
      () => sql`
        DELETE FROM limits.buckets WHERE key = ANY(ARRAY(
          SELECT key FROM limits.buckets ORDER BY full_at
          LIMIT least(greatest((SELECT count(*) FROM limits.buckets) - ${mostRows}, 0), ${SWEPT_AT_ONCE})
          FOR UPDATE SKIP LOCKED))`,
    ]
    for (const step of steps) {
      let deleted = SWEPT_AT_ONCE
      while (deleted === SWEPT_AT_ONCE) deleted = (await step()).count
    }
  }

  return {
    name: 'postgres',
    sweep,
    async take(questions) {
      if (questions.length === 0) {
        await sql`SELECT FROM limits.buckets LIMIT 0`
        return []
      }
      hasWritten = true
      // All replicas lock rows in the same order, to avoid deadlocks.
      const sorted = questions.toSorted((a, b) => (a.key < b.key ? -1 : 1))
      const rows = await sql<{ key: string; full_at: number; taken_at: number; granted: number }[]>`
        WITH moment AS MATERIALIZED (SELECT ${moment()} AS at)
        INSERT INTO limits.buckets AS b (key, full_at, taken_at, wanted, granted, step_ms, burst)
        SELECT key, at + least(wanted, burst) * step_ms, at, wanted, least(wanted, burst), step_ms, burst
        FROM moment, unnest(${sorted.map(({ key }) => key)}::text[], ${sorted.map(({ wanted }) => wanted)}::float8[],
          ${sorted.map(({ rate }) => stepMsOf(rate))}::float8[], ${sorted.map(({ rate }) => rate.burst)}::float8[])
          AS question (key, wanted, step_ms, burst)
        ON CONFLICT (key) DO UPDATE SET (full_at, taken_at, wanted, granted, step_ms, burst) = (
          SELECT excluded.taken_at + missing_ms + given * excluded.step_ms, excluded.taken_at, excluded.wanted, given,
            excluded.step_ms, excluded.burst
          FROM (SELECT excluded.burst * excluded.step_ms AS refill_ms) AS whole
          CROSS JOIN LATERAL (
            SELECT least(greatest(b.full_at - greatest(excluded.taken_at, b.taken_at), 0), refill_ms) AS missing_ms) AS part
          CROSS JOIN LATERAL (
            SELECT least(excluded.wanted, excluded.burst,
              floor((refill_ms - missing_ms + ${ROUNDING_MS}::float8) / excluded.step_ms)) AS given) AS answer)
        RETURNING key, full_at, taken_at, granted`
      const answers = new Map(rows.map((row) => [row.key, row]))
      return questions.map(({ key, rate, wanted }) => {
        const row = answers.get(key)
        if (!row) throw new Error('the database did not answer every question')
        return takenOf({ fullAt: row.full_at, takenAt: row.taken_at, granted: row.granted }, rate, wanted)
      })
    },
    reset() {
      void sql.end({ timeout: 0 }).catch(() => {})
      sql = open()
    },
    async close() {
      clearInterval(sweeps)
      await sql.end({ timeout: 1 })
    },
  }
}
