import type { Queryable } from '@referrer/database'

/** Counting stops here in each queue: a figure above it tells nothing more. */
export const COUNTED = 10_000

export interface JobCount {
  queue: string
  state: 'due' | 'running' | 'later'
  count: number
  /** How late the first of them is. */
  oldestSeconds: number
}

/** The live jobs by queue and state. Reads a bounded part of the claim's index, however long the queues are. */
export function countJobs(sql: Queryable) {
  return sql<JobCount[]>`
    WITH RECURSIVE queues AS (
      (SELECT queue FROM jobs.live ORDER BY queue LIMIT 1)
      UNION ALL
      SELECT (SELECT queue FROM jobs.live WHERE live.queue > queues.queue ORDER BY queue LIMIT 1)
      FROM queues WHERE queues.queue IS NOT NULL
    )
    SELECT queues.queue, state, count(*)::integer AS count,
      greatest(0, extract(epoch FROM now() - min(run_at)))::float8 AS "oldestSeconds"
    FROM queues CROSS JOIN LATERAL (
      SELECT run_at, CASE
        WHEN lease_until >= now() THEN 'running'
        WHEN run_at <= now() THEN 'due'
        ELSE 'later'
      END AS state
      FROM jobs.live WHERE live.queue = queues.queue ORDER BY run_at, id LIMIT ${COUNTED}
    ) job
    GROUP BY queues.queue, state`
}

/** Likewise, so that a queue with many dead does not hide those of another. */
export function countDead(sql: Queryable) {
  return sql<{ queue: string; count: number }[]>`
    WITH RECURSIVE queues AS (
      (SELECT queue FROM jobs.dead ORDER BY queue LIMIT 1)
      UNION ALL
      SELECT (SELECT queue FROM jobs.dead WHERE dead.queue > queues.queue ORDER BY queue LIMIT 1)
      FROM queues WHERE queues.queue IS NOT NULL
    )
    SELECT queues.queue, count(*)::integer AS count
    FROM queues CROSS JOIN LATERAL (
      SELECT FROM jobs.dead WHERE dead.queue = queues.queue LIMIT ${COUNTED}
    ) letter
    GROUP BY queues.queue`
}
