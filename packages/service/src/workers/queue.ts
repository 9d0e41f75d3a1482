import type { Queryable } from '@referrer/database'
import { LeaseLostError } from './errors.ts'

/** The channel that tells idle workers which queue has work. */
export const CHANNEL = 'jobs'
const MAX_ATTEMPTS = 15
const KEPT_FAILURES = 10

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export interface NewJob {
  queue: string
  payload: Json
  /** At most one live job of the queue has it, from being enqueued to being finished or dead. */
  key?: string
  /** Not before; now when left out. */
  runAt?: Date
  maxAttempts?: number
}

export interface JobFailure {
  attempt: number
  at: string
  error: string
}

export interface Job {
  id: bigint
  queue: string
  key: string | null
  payload: unknown
  /** 1 for the first. */
  attempt: number
  maxAttempts: number
  errors: JobFailure[]
  createdAt: Date
}

/** A job in the hands of one worker. Only the holder of the token can end or renew it. */
export interface Claim extends Job {
  token: string
  /** Who held the job before and fell silent. */
  previousHolder: string | null
}

/** Part of the caller's transaction. `null` when a live job with this key exists already. */
export async function enqueue(tx: Queryable, job: NewJob): Promise<bigint | null> {
  const [row] = await tx<{ id: bigint }[]>`
    with added as (
      insert into jobs.live (queue, key, payload, run_at, max_attempts)
      values (
        ${job.queue}, ${job.key ?? null}, ${tx.json(job.payload)},
        coalesce(${job.runAt ?? null}, now()), ${job.maxAttempts ?? MAX_ATTEMPTS}
      )
      on conflict (queue, key) where key is not null do nothing
      returning id, queue, run_at
    )
    select id, case when run_at <= now() then pg_notify(${CHANNEL}, queue) end from added`
  return row?.id ?? null
}

/** Takes up to `limit` due jobs, oldest first. Jobs of workers that fell silent are due again. */
export async function claim(
  sql: Queryable,
  options: { queue: string; limit: number; leaseMs: number; holder: string },
): Promise<Claim[]> {
  return sql<Claim[]>`
    with due as (
      select id, leased_by from jobs.live
      where queue = ${options.queue} and run_at <= now() and (lease_until is null or lease_until < now())
      order by run_at, id
      limit ${options.limit}
      for update skip locked
    )
    update jobs.live job set
      attempts = job.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_until = now() + ${options.leaseMs} * interval '1 millisecond',
      leased_by = ${options.holder}
    from due where job.id = due.id
    returning job.id, job.queue, job.key, job.payload, job.attempts as attempt, job.max_attempts as "maxAttempts",
      job.errors, job.created_at as "createdAt", job.lease_token as token, due.leased_by as "previousHolder"`
}

/** False when the job is in other hands. */
export async function renew(sql: Queryable, job: Claim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    update jobs.live set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where id = ${job.id} and lease_token = ${job.token}`
  return count > 0
}

export async function complete(tx: Queryable, job: Claim): Promise<void> {
  const { count } = await tx`delete from jobs.live where id = ${job.id} and lease_token = ${job.token}`
  requireHeld(count, job)
}

export async function isHeld(sql: Queryable, job: Claim): Promise<boolean> {
  const { count } = await sql`select from jobs.live where id = ${job.id} and lease_token = ${job.token}`
  return count > 0
}

/** Gives the job back as if it had not been taken. */
export async function release(sql: Queryable, job: Claim): Promise<void> {
  const { count } = await sql`
    with released as (
      update jobs.live
      set attempts = attempts - 1, lease_token = null, lease_until = null, leased_by = null
      where id = ${job.id} and lease_token = ${job.token}
      returning queue
    )
    select pg_notify(${CHANNEL}, queue) from released`
  requireHeld(count, job)
}

export async function retry(sql: Queryable, job: Claim, error: string, delayMs: number): Promise<void> {
  const { count } = await sql`
    update jobs.live set
      run_at = now() + ${delayMs} * interval '1 millisecond',
      errors = ${sql.json(failures(job, error))},
      lease_token = null, lease_until = null, leased_by = null
    where id = ${job.id} and lease_token = ${job.token}`
  requireHeld(count, job)
}

/** Moves the job to the dead letters. */
export async function bury(sql: Queryable, job: Claim, error: string): Promise<void> {
  const { count } = await sql`
    with gone as (
      delete from jobs.live where id = ${job.id} and lease_token = ${job.token} returning *
    )
    insert into jobs.dead (id, queue, key, payload, attempts, max_attempts, errors, created_at)
    select id, queue, key, payload, ${job.attempt}, max_attempts, ${sql.json(failures(job, error))}, created_at
    from gone`
  requireHeld(count, job)
}

/** Puts a dead job back to work, with all its attempts before it. */
export async function revive(sql: Queryable, id: bigint): Promise<void> {
  const revived = await sql`
    with dead as (
      delete from jobs.dead
      where id = ${id} and not exists (
        select from jobs.live where live.queue = dead.queue and live.key = dead.key
      )
      returning *
    ), added as (
      insert into jobs.live (id, queue, key, payload, max_attempts, errors, created_at)
      overriding system value
      select id, queue, key, payload, max_attempts, errors, created_at from dead
      returning queue
    )
    select pg_notify(${CHANNEL}, queue) from added`
  if (revived.count > 0) return
  const [dead] = await sql<{ key: string }[]>`select key from jobs.dead where id = ${id}`
  throw new Error(
    dead
      ? `job ${id} stays dead: a live job has its key ${dead.key}; revive it when that one is done`
      : `no dead job has the id ${id}; select id, queue, errors from jobs.dead shows those there are`,
  )
}

function requireHeld(count: number, job: Claim): void {
  if (count === 0) throw new LeaseLostError(`job ${job.id} of ${job.queue} is in other hands`)
}

function failures(job: Claim, error: string): { attempt: number; at: string; error: string }[] {
  return [...job.errors, { attempt: job.attempt, at: new Date().toISOString(), error }].slice(-KEPT_FAILURES)
}
