import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { createFollowing, type Follower } from '../derived/following/following.ts'
import type { Context } from '../kit/context.ts'
import type { Worker, WorkerEvent } from '../machinery/workers/frame.ts'
import { createScheduler, type Schedule, type ScheduleEvent } from '../machinery/workers/schedule.ts'
import type { ChainEvent } from './chains.ts'

export type WorkEvent = WorkerEvent | ScheduleEvent | ChainEvent

/** What the service does without being asked. */
export interface Work {
  schedules: readonly Schedule[]
  /** Run in this order, in one transaction. */
  followers: readonly Follower[]
  /** Further workers. */
  workers?: readonly Worker[]
}

/** The workers that need no chain: schedules, followers of changes, and those that `work` brings. `chains.ts` has the indexers and senders. */
export function createWorkers(context: Context, work: Work, onEvent: (event: WorkEvent) => void): Worker[] {
  const { sql } = context
  const holder = `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`
  const workers: Worker[] = [...(work.workers ?? [])]
  if (work.schedules.length > 0) {
    workers.push(createScheduler({ sql, schedules: work.schedules, holder, onEvent }))
  }
  if (work.followers.length > 0) {
    workers.push(
      ...[...context.chains.values()].map((chain) => createFollowing(context, chain, work.followers)),
    )
  }
  return workers
}
