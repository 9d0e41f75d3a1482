// What is kept for people costs us disk and them nothing, so that each may have so much of it written a day.
import { createHash } from 'node:crypto'
import type { Queryable } from '@referrer/database'
import { Exhausted } from '../../kit/market-error.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

export interface Written {
  /** In words, for whoever is refused: `proofs of this owner`. */
  what: string
  who: Buffer
  bytes: number
  /** On a day (UTC). */
  most: number
}

const DAY_MS = 86_400_000

/** A client that nobody knows by anything but its address, which need not be kept. */
export const clientBytes = (client: string): Buffer => createHash('sha256').update(client).digest()

/** For things that all of them share. */
export const EVERYBODY = Buffer.alloc(0)

/** Throws when it is more than may be written today. In the transaction that writes it: what is not written is not counted. */
export async function countWritten(
  sql: Queryable,
  now: number,
  { what, who, bytes, most }: Written,
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
  throw new Exhausted(
    `${what} may take ${most} bytes a day, and that is used up; the next day begins at ${begins}`,
    Math.ceil((next - now) / 1_000),
  )
}

/** Days that are over. */
export const sweepWritten: Schedule = {
  name: 'sweep-written',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`DELETE FROM market.written WHERE day < (now() AT TIME ZONE 'UTC')::date - 1`
  },
}
