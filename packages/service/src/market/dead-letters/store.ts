import type { Queryable } from '@referrer/database'
import type { Page } from '../../machinery/db/page.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

const KEPT_DAYS = 30

/** A message that was given up. */
export interface DeadLetter {
  channel: string
  chat: string
  /** The idempotency key that it was sent with. */
  key: string
  text: string
  /** What the messenger said, or why it could not be reached. */
  reason: string
  at: Date
}

/** Lists a message as given up, for the operator. The same message is listed once. */
export async function bury(
  sql: Queryable,
  { channel, chat, key, text, reason, at }: DeadLetter,
): Promise<void> {
  await sql`
    INSERT INTO market.dead_letters (channel, chat, key, text, reason, buried_at)
    VALUES (${channel}, ${chat}, ${key}, ${text}, ${reason}, ${at})
    ON CONFLICT (channel, key) DO NOTHING`
}

export type DeadLetterRow = Omit<DeadLetter, 'at'> & { letter_id: bigint; buried_at: Date }

/** One page, newest first. */
export const listDeadLetters = (sql: Queryable, { limit, offset }: Page): Promise<DeadLetterRow[]> =>
  sql<DeadLetterRow[]>`
    SELECT letter_id, channel, chat, key, text, reason, buried_at FROM market.dead_letters
    ORDER BY buried_at DESC, letter_id DESC LIMIT ${limit} OFFSET ${offset}`

export const sweepDeadLetters: Schedule = {
  name: 'sweep-dead-letters',
  everySeconds: 3_600,
  async run({ sql }) {
    await sql`DELETE FROM market.dead_letters WHERE buried_at < now() - ${KEPT_DAYS} * INTERVAL '1 day'`
  },
}
