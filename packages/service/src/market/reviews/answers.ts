// Answers about published reviews, kept in memory. They hardly ever change, and making one takes longer than sending it. Before one is
// sent the database is asked whether any of them changed: one small question for all who wait, so that no answer is ever out of date.
import type { Sql } from '@referrer/database'
import { createLoader } from '@referrer/process'
import { LRUCache } from 'lru-cache'
import { once } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

const MOST_BYTES = 64 * 1024 * 1024
/** Changes are remembered for so long. Whoever has not asked for a part of that begins anew. */
const REMEMBERED_MINUTES = 60
const LONGEST_SILENCE_MS = 30 * 60_000

/** Answers that hold together or not at all. What is read from now on may be put to them: if it is late, they hold no more. */
export type Answers = LRUCache<string, Buffer>

export interface Memory {
  /** As of the last look. */
  current(): Answers
  /** Looks whether these answers hold at this moment. */
  holds(answers: Answers): Promise<boolean>
}

const createAnswers = (): Answers =>
  new LRUCache({ maxSize: MOST_BYTES, sizeCalculation: (answer) => answer.length })

export const reviewMemory = once(({ sql }): Memory => {
  let answers = createAnswers()
  let seen: string | undefined
  let lookedAt = 0
  const look = createLoader<void, void>({
    keyOf: () => 0,
    load: async () => {
      const now = performance.now()
      // Without an answer nothing is known: what comes back may be another server, with another past.
      const before = now - lookedAt < LONGEST_SILENCE_MS ? seen : undefined
      seen = undefined
      const { snapshot, hasChanged } = await changesSince(sql, before)
      if (hasChanged || before === undefined) answers = createAnswers()
      seen = snapshot
      lookedAt = now
      return []
    },
  })
  return {
    current: () => answers,
    async holds(given) {
      await look()
      return given === answers
    },
  }
})

/** Whether anything can be seen now that could not be seen in that snapshot. */
async function changesSince(sql: Sql, seen: string | undefined) {
  const [row] = await sql<{ snapshot: string; changed: boolean }[]>`
    SELECT now.snapshot::text, EXISTS (
      SELECT FROM market.review_changes AS c
      WHERE c.xid >= pg_snapshot_xmin(since.snapshot) AND NOT pg_visible_in_snapshot(c.xid, since.snapshot)) AS changed
    FROM (SELECT pg_current_snapshot() AS snapshot) AS now,
      (SELECT coalesce(${seen ?? null}::text::pg_snapshot, pg_current_snapshot()) AS snapshot) AS since`
  if (!row) throw new Error('the database has no snapshot')
  return { snapshot: row.snapshot, hasChanged: row.changed }
}

export const sweepReviewChanges: Schedule = {
  name: 'sweep-review-changes',
  everySeconds: 600,
  async run({ sql }) {
    await sql`
      DELETE FROM market.review_changes WHERE changed_at < now() - make_interval(mins => ${REMEMBERED_MINUTES})`
  },
}
