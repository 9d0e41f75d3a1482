import { setTimeout as sleep } from 'node:timers/promises'
import type { Sql } from '@referrer/database'
import { errorText } from './errors.ts'
import type { Frame, Worker } from './frame.ts'
import { underLease } from './lease.ts'

/** Periodic work, aligned to the clock: every 60 seconds means at each full minute. */
export interface Schedule {
  name: string
  everySeconds: number
  run(run: { signal: AbortSignal; sql: Sql }): Promise<void>
}

export type ScheduleEvent = { schedule: string } & (
  | { type: 'schedule.done' }
  | { type: 'schedule.failed'; error: unknown }
  | { type: 'schedule.lost'; error: unknown }
  | { type: 'schedule.released' }
)

export interface SchedulerOptions {
  sql: Sql
  schedules: readonly Schedule[]
  /** Names this process in the leases. */
  holder: string
  onEvent(event: ScheduleEvent): void
  leaseMs?: number
  pollMs?: number
  graceMs?: number
}

/** A failed run is repeated after this long, or at the next tick when that comes first. */
const RETRY_SECONDS = 60

interface Claimed {
  name: string
  token: string
}

/**
 * Runs each schedule on one replica per tick. A run moves the schedule to the next tick only when it ends, so a crash
 * leaves it due; one run makes up for all ticks that passed meanwhile.
 */
export function createScheduler({
  sql,
  schedules,
  holder,
  onEvent,
  leaseMs = 30_000,
  pollMs = 1_000,
  graceMs = 1_000,
}: SchedulerOptions): Worker {
  const byName = new Map(schedules.map((schedule) => [schedule.name, schedule]))

  async function run(signal: AbortSignal, frame: Frame): Promise<void> {
    await register()
    const running = new Set<Promise<void>>()
    while (!signal.aborted) {
      try {
        const heldSince = performance.now()
        for (const claimed of await claim()) {
          const run = runSchedule(claimed, heldSince, frame.abort).finally(() => running.delete(run))
          running.add(run)
        }
        frame.working()
      } catch (error) {
        frame.failing(error)
      }
      await sleep(pollMs, undefined, { signal }).catch(() => {})
    }
    await Promise.all(running)
  }

  async function register(): Promise<void> {
    for (const { name, everySeconds } of schedules) {
      await sql`
        INSERT INTO jobs.schedules AS old (name, every_seconds) VALUES (${name}, ${everySeconds})
        ON CONFLICT (name) DO UPDATE SET
          every_seconds = excluded.every_seconds,
          next_run_at = least(old.next_run_at, now() + excluded.every_seconds * INTERVAL '1 second')
        WHERE old.every_seconds <> excluded.every_seconds`
    }
  }

  async function claim(): Promise<Claimed[]> {
    return sql<Claimed[]>`
      WITH due AS (
        SELECT name FROM jobs.schedules
        WHERE name = any(${[...byName.keys()]}) AND next_run_at <= now()
          AND (lease_until IS NULL OR lease_until < now())
        FOR UPDATE SKIP LOCKED
      )
      UPDATE jobs.schedules schedule SET
        lease_token = gen_random_uuid(),
        lease_until = now() + ${leaseMs} * INTERVAL '1 millisecond',
        leased_by = ${holder},
        last_started_at = now()
      FROM due WHERE schedule.name = due.name
      RETURNING schedule.name, schedule.lease_token AS token`
  }

  async function renew({ name, token }: Claimed): Promise<boolean> {
    const { count } = await sql`
      UPDATE jobs.schedules SET lease_until = now() + ${leaseMs} * INTERVAL '1 millisecond'
      WHERE name = ${name} AND lease_token = ${token}`
    return count > 0
  }

  async function finish({ name, token }: Claimed, error: string | null): Promise<void> {
    await sql`
      UPDATE jobs.schedules SET
        next_run_at = least(
          to_timestamp((floor(extract(epoch FROM now()) / every_seconds) + 1) * every_seconds),
          CASE WHEN ${error}::text IS NOT NULL THEN now() + ${RETRY_SECONDS} * INTERVAL '1 second' END
        ),
        last_finished_at = now(), last_error = ${error},
        lease_token = NULL, lease_until = NULL, leased_by = NULL
      WHERE name = ${name} AND lease_token = ${token}`
  }

  async function release({ name, token }: Claimed): Promise<void> {
    await sql`
      UPDATE jobs.schedules SET lease_token = NULL, lease_until = NULL, leased_by = NULL
      WHERE name = ${name} AND lease_token = ${token}`
  }

  /** Never rejects: a run whose end cannot be written is due again when its lease expires. */
  async function runSchedule(claimed: Claimed, heldSince: number, abort: AbortSignal): Promise<void> {
    const event = { schedule: claimed.name }
    const lease = { leaseMs, heldSince, abort, graceMs, renew: () => renew(claimed) }
    try {
      await underLease(lease, async (signal) => {
        try {
          await byName.get(claimed.name)?.run({ signal, sql })
        } catch (error) {
          if (signal.aborted) throw error
          await finish(claimed, errorText(error))
          return onEvent({ ...event, type: 'schedule.failed', error })
        }
        await finish(claimed, null)
        onEvent({ ...event, type: 'schedule.done' })
      })
    } catch (error) {
      if (!abort.aborted) return onEvent({ ...event, type: 'schedule.lost', error })
      try {
        await release(claimed)
        onEvent({ ...event, type: 'schedule.released' })
      } catch (error) {
        onEvent({ ...event, type: 'schedule.lost', error })
      }
    }
  }

  return { name: 'schedules', run }
}
