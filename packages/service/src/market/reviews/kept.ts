// Answers about published reviews, kept in memory. They hardly ever change, and making one takes longer than sending it. Before one is
// sent the database is asked whether any of them changed: one small question for all who wait, so that no answer is ever out of date.
import type { Sql } from '@referrer/database'
import { gather } from '../../kit/batch.ts'
import { once } from '../../kit/context.ts'
import type { Schedule } from '../../machinery/workers/schedule.ts'

const MOST_BYTES = 64 * 1024 * 1024
/** Changes are remembered for so long. Whoever has not asked for a part of that begins anew. */
const REMEMBERED_MINUTES = 60
const LONGEST_SILENCE_MS = 30 * 60_000

/** Answers that hold together or not at all. What is read from now on may be put to them: if it is late, they hold no more. */
export interface Kept {
  get(name: string): Buffer | undefined
  put(name: string, answer: Buffer): void
}

export interface Memory {
  /** As of the last look. */
  current(): Kept
  /** Looks whether these answers hold at this moment. */
  holds(kept: Kept): Promise<boolean>
}

/** Half of what fits, and the half before it: what was not asked for while the one filled up goes. */
function createKept(): Kept {
  let newer = new Map<string, Buffer>()
  let older = new Map<string, Buffer>()
  let bytes = 0
  const kept: Kept = {
    get(name) {
      const answer = newer.get(name)
      if (answer) return answer
      const before = older.get(name)
      if (before) kept.put(name, before)
      return before
    },
    put(name, answer) {
      if (newer.has(name)) return
      newer.set(name, answer)
      bytes += answer.length
      if (bytes < MOST_BYTES / 2) return
      older = newer
      newer = new Map()
      bytes = 0
    },
  }
  return kept
}

export const reviewMemory = once(({ sql }): Memory => {
  let kept = createKept()
  let seen: string | undefined
  let lookedAt = 0
  const look = gather<void, void>({
    keyOf: () => 0,
    flights: 1,
    ask: async () => {
      const now = performance.now()
      // Without an answer nothing is known: what comes back may be another server, with another past.
      const before = now - lookedAt < LONGEST_SILENCE_MS ? seen : undefined
      seen = undefined
      const { snapshot, hasChanged } = await changesSince(sql, before)
      if (hasChanged || before === undefined) kept = createKept()
      seen = snapshot
      lookedAt = now
      return []
    },
  })
  return {
    current: () => kept,
    async holds(given) {
      await look()
      return given === kept
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
