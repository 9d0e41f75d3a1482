// A cache of serialized answers about published reviews. They rarely change, and building one takes longer than sending it. Before a
// cached answer is sent, one small query, shared by all waiting requests, checks that no review has changed: no answer is ever stale.
import type { Sql } from '@referrer/database'
import { createLoader } from '@referrer/process'
import { LRUCache } from 'lru-cache'
import { once } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

const MOST_BYTES = 64 * 1024 * 1024
/** How long the table `review_changes` keeps changes. A process that has not checked for half of that starts with an empty cache. */
const REMEMBERED_MINUTES = 60
const MAX_CHECK_AGE_MS = 30 * 60_000

/**
 * One generation of cached answers; it is valid or invalid as a whole. An answer that was read before a change is added to an old
 * generation, which is discarded.
 */
export type Answers = LRUCache<string, Buffer>

export interface ReviewCache {
  /** The generation of the last check. */
  current(): Answers
  /** Checks whether this generation is still valid now. */
  holds(answers: Answers): Promise<boolean>
}

const createAnswers = (): Answers =>
  new LRUCache({ maxSize: MOST_BYTES, sizeCalculation: (answer) => answer.length })

export const reviewCache = once(({ sql }): ReviewCache => {
  let answers = createAnswers()
  let seen: string | undefined
  let lookedAt = 0
  const look = createLoader<void, void>({
    keyOf: () => 0,
    load: async () => {
      const now = performance.now()
      // `seen` is only set again after an answer: after a failed query the database may be another server with another history.
      const before = now - lookedAt < MAX_CHECK_AGE_MS ? seen : undefined
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

/** Whether a change is visible now that was not visible in the snapshot `seen`. */
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
