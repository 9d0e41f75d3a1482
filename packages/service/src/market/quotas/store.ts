// Daily quotas of stored bytes for each owner or client, because storing data is free for callers and costs us disk.
import { createHash } from 'node:crypto'
import type { Queryable } from '@referrer/database'
import { RateLimited } from '../../kit/market-error.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

export interface QuotaUse {
  /** Name of the quota in the text of a refusal: `proofs of this owner`. */
  what: string
  who: Buffer
  bytes: number
  /** Quota of one day (UTC), in bytes. */
  most: number
}

const DAY_MS = 86_400_000

/** Hash of a client's IP address, so that the address itself is not stored. */
export const clientBytes = (client: string): Buffer => createHash('sha256').update(client).digest()

/** The `who` of a quota that all clients share. */
export const ALL_CLIENTS = Buffer.alloc(0)

/**
 * Counts bytes against today's quota, and throws when it is exceeded. It runs in the transaction that stores the data, so that data
 * that is rolled back does not count.
 */
export async function spendQuota(
  sql: Queryable,
  now: number,
  { what, who, bytes, most }: QuotaUse,
): Promise<void> {
  const { count } = await sql`
    INSERT INTO market.written AS w (day, what, who, bytes)
    SELECT (${new Date(now)}::timestamptz AT TIME ZONE 'UTC')::date, ${what}, ${who}, ${bytes}::bigint
    WHERE ${bytes}::bigint <= ${most}::bigint
    ON CONFLICT (day, what, who) DO UPDATE SET bytes = w.bytes + excluded.bytes
    WHERE w.bytes + excluded.bytes <= ${most}::bigint`
  if (count === 1) return
  const next = (Math.floor(now / DAY_MS) + 1) * DAY_MS
  const begins = new Date(next).toISOString().replace('.000Z', 'Z')
  throw new RateLimited(
    `${what} may take ${most} bytes a day, and that is used up; the next day begins at ${begins}`,
    Math.ceil((next - now) / 1_000),
  )
}

/** Deletes the counters of past days. */
export const sweepQuotas: Schedule = {
  name: 'sweep-written',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`DELETE FROM market.written WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`
  },
}
