import { setTimeout as sleep } from 'node:timers/promises'
import type { Queryable, Sql } from '@referrer/database'
import { type Backoff, backoffMs } from './backoff.ts'
import { Bell } from './bell.ts'
import { errorText, FatalJobError, LeaseLostError, RetryJobError } from './errors.ts'
import type { Frame, Worker } from './frame.ts'
import { underLease } from './lease.ts'
import {
  bury,
  CHANNEL,
  type Claim,
  claim,
  complete,
  isHeld,
  type Job,
  release,
  renew,
  retry,
} from './queue.ts'

export interface JobRun {
  job: Job
  /** Fires when the lease is lost or the service stops: give up, the job runs again elsewhere. */
  signal: AbortSignal
  sql: Sql
  /**
   * Ends the job in the handler's own transaction, so that its effect and its end are one. A job that ends otherwise
   * can run twice when its worker dies between the two.
   */
  complete(tx: Queryable): Promise<void>
}

export interface Queue {
  name: string
  /** Jobs at once in this process; 1 when left out. All queues together need fewer than the pool has connections. */
  concurrency?: number
  backoff?: Backoff
  handle(run: JobRun): Promise<void>
}

export type JobEvent = {
  queue: string
  id: bigint
  attempt: number
} /** The error is what the handler threw after its transaction had ended the job. */ & (
  | { type: 'job.done'; error?: unknown }
  | { type: 'job.retry'; error: unknown; delayMs: number }
  | { type: 'job.dead'; error: unknown }
  | { type: 'job.lost'; error: unknown }
  | { type: 'job.released' }
)

export interface QueueRunnerOptions {
  sql: Sql
  queues: readonly Queue[]
  /** Names this process in the leases. */
  holder: string
  onEvent(event: JobEvent): void
  leaseMs?: number
  /** How often to look for work that nobody announced: retries, later jobs, those of dead workers. */
  pollMs?: number
  graceMs?: number
  random?: () => number
}

const BACKOFF: Backoff = { firstMs: 1_000, maxMs: 3_600_000 }

/** Runs the jobs of the given queues until it is stopped. */
export function createQueueRunner({
  sql,
  queues,
  holder,
  onEvent,
  leaseMs = 30_000,
  pollMs = 1_000,
  graceMs = 1_000,
  random = Math.random,
}: QueueRunnerOptions): Worker {
  async function run(signal: AbortSignal, frame: Frame): Promise<void> {
    const served = queues.map((queue) => ({ queue, bell: new Bell() }))
    const ring = (name?: string) => {
      for (const { queue, bell } of served) if (name === undefined || name === queue.name) bell.ring()
    }
    // Listens again after every lost connection, and then rings all: what was announced in between was not heard.
    // Without it work is found by looking for it, so failing to listen stops nobody.
    const listening = sql.listen(CHANNEL, ring, () => ring())
    listening.catch((error) => frame.failing(error))
    await Promise.all(served.map(({ queue, bell }) => serve(queue, bell, signal, frame)))
    // Not waited for: a server that is away would hold up the stop.
    listening.then(({ unlisten }) => unlisten()).catch(() => {})
  }

  async function serve(queue: Queue, bell: Bell, signal: AbortSignal, frame: Frame): Promise<void> {
    const running = new Set<Promise<void>>()
    while (!signal.aborted) {
      const limit = (queue.concurrency ?? 1) - running.size
      if (limit > 0) {
        try {
          const heldSince = performance.now()
          for (const job of await claim(sql, { queue: queue.name, limit, leaseMs, holder })) {
            const run = runJob(queue, job, heldSince, frame.abort).finally(() => {
              running.delete(run)
              bell.ring()
            })
            running.add(run)
          }
          frame.working()
        } catch (error) {
          frame.failing(error)
        }
      }
      await bell.wait(pollMs, signal)
    }
    await Promise.all(running)
  }

  /** Never rejects: a job that cannot be ended is due again when its lease runs out. */
  async function runJob(queue: Queue, job: Claim, heldSince: number, abort: AbortSignal): Promise<void> {
    const event = { queue: job.queue, id: job.id, attempt: job.attempt }
    let isCompleting = false
    try {
      const lease = {
        leaseMs,
        heldSince,
        abort,
        graceMs,
        // A row that the handler's transaction deletes is locked or gone, not lost.
        renew: async () => (await renew(sql, job, leaseMs)) || isCompleting,
      }
      await underLease(lease, async (signal) => {
        const failure = await attempt(queue, {
          job,
          signal,
          sql,
          async complete(tx) {
            isCompleting = true
            await complete(tx, job).catch((error) => {
              isCompleting = false
              throw error
            })
          },
        })
        if (failure && signal.aborted) throw failure.error
        const end = await written(signal, () => record(queue, job, failure, isCompleting))
        onEvent({ ...event, ...end })
      })
    } catch (error) {
      if (!abort.aborted || error instanceof LeaseLostError)
        return onEvent({ ...event, type: 'job.lost', error })
      try {
        await release(sql, job)
        onEvent({ ...event, type: 'job.released' })
      } catch (error) {
        onEvent({ ...event, type: 'job.lost', error })
      }
    }
  }

  async function record(queue: Queue, job: Claim, failure: Failure | undefined, isCompleting: boolean) {
    if (isCompleting && !(await isHeld(sql, job))) return { type: 'job.done', ...failure } as const
    if (!isCompleting && !failure) {
      await complete(sql, job)
      return { type: 'job.done' } as const
    }
    const { error } = failure ?? {
      error: new Error('the handler completed the job in a transaction that did not commit'),
    }
    if (error instanceof LeaseLostError) throw error
    if (error instanceof FatalJobError || job.attempt >= job.maxAttempts) {
      await bury(sql, job, errorText(error))
      return { type: 'job.dead', error } as const
    }
    const delayMs =
      error instanceof RetryJobError
        ? error.retryAfterMs
        : backoffMs(job.attempt, queue.backoff ?? BACKOFF, random)
    await retry(sql, job, errorText(error), delayMs)
    return { type: 'job.retry', error, delayMs } as const
  }

  return { name: 'jobs', run }
}

interface Failure {
  error: unknown
}

async function attempt(queue: Queue, run: JobRun): Promise<Failure | undefined> {
  const { attempt, maxAttempts } = run.job
  // Its last worker died with it. Trying once more could kill this one too.
  if (attempt > maxAttempts) {
    return { error: new FatalJobError(`the worker vanished during attempt ${maxAttempts}, the last`) }
  }
  try {
    await queue.handle(run)
    return undefined
  } catch (error) {
    return { error }
  }
}

const WRITES = 20
const WRITE_PAUSE_MS = 500

/** What was done must be written down while the lease lasts, or it is done again. */
async function written<T>(signal: AbortSignal, write: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await write()
    } catch (error) {
      if (error instanceof LeaseLostError || signal.aborted || tries === WRITES) throw error
      await sleep(WRITE_PAUSE_MS, undefined, { signal })
    }
  }
}
