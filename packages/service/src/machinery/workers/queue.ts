import type { Queryable } from '@referrer/database'
import { LeaseLostError } from './errors.ts'

/** The channel that tells idle workers which queue has work. */
export const CHANNEL = 'jobs'
const MAX_ATTEMPTS = 15

export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

export interface NewJob {
  queue: string
  payload: { readonly [name: string]: Json }
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
    WITH added AS (
      INSERT INTO jobs.live (queue, key, payload, run_at, max_attempts)
      VALUES (
        ${job.queue}, ${job.key ?? null}, ${tx.json(job.payload)},
        coalesce(${job.runAt ?? null}, now()), ${job.maxAttempts ?? MAX_ATTEMPTS}
      )
      ON CONFLICT (queue, key) WHERE key IS NOT NULL DO NOTHING
      RETURNING id, queue, run_at
    )
    SELECT id, CASE WHEN run_at <= now() THEN pg_notify(${CHANNEL}, queue) END FROM added`
  return row?.id ?? null
}

/** Takes up to `limit` due jobs, oldest first. Jobs of workers that fell silent are due again. */
export async function claim(
  sql: Queryable,
  options: { queue: string; limit: number; leaseMs: number; holder: string },
): Promise<Claim[]> {
  return sql<Claim[]>`
    WITH due AS (
      SELECT id, leased_by FROM jobs.live
      WHERE queue = ${options.queue} AND run_at <= now() AND (lease_until IS NULL OR lease_until < now())
      ORDER BY run_at, id
      LIMIT ${options.limit}
      FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs.live job SET
      attempts = job.attempts + 1,
      lease_token = gen_random_uuid(),
      lease_until = now() + ${options.leaseMs} * INTERVAL '1 millisecond',
      leased_by = ${options.holder}
    FROM due WHERE job.id = due.id
    RETURNING job.id, job.queue, job.key, job.payload, job.attempts AS attempt, job.max_attempts AS "maxAttempts",
      job.errors, job.created_at AS "createdAt", job.lease_token AS token, due.leased_by AS "previousHolder"`
}

/** False when the job is in other hands, or when a transaction that has completed it is still open: it does not wait for that. */
export async function renew(sql: Queryable, job: Claim, leaseMs: number): Promise<boolean> {
  const { count } = await sql`
    UPDATE jobs.live SET lease_until = now() + ${leaseMs} * INTERVAL '1 millisecond'
    WHERE id IN (
      SELECT id FROM jobs.live WHERE id = ${job.id} AND lease_token = ${job.token} FOR UPDATE SKIP LOCKED
    )`
  return count > 0
}

export async function complete(tx: Queryable, job: Claim): Promise<void> {
  const { count } = await tx`DELETE FROM jobs.live WHERE id = ${job.id} AND lease_token = ${job.token}`
  requireHeld(count, job)
}

export async function isHeld(sql: Queryable, job: Claim): Promise<boolean> {
  const { count } = await sql`SELECT FROM jobs.live WHERE id = ${job.id} AND lease_token = ${job.token}`
  return count > 0
}

/** Gives the job back as if it had not been taken. */
export async function release(sql: Queryable, job: Claim): Promise<void> {
  const { count } = await sql`
    WITH released AS (
      UPDATE jobs.live
      SET attempts = attempts - 1, lease_token = NULL, lease_until = NULL, leased_by = NULL
      WHERE id = ${job.id} AND lease_token = ${job.token}
      RETURNING queue
    )
    SELECT pg_notify(${CHANNEL}, queue) FROM released`
  requireHeld(count, job)
}

export async function retry(sql: Queryable, job: Claim, error: string, delayMs: number): Promise<void> {
  const { count } = await sql`
    UPDATE jobs.live SET
      run_at = now() + ${delayMs} * INTERVAL '1 millisecond',
      errors = ${failures(sql, job, error)},
      lease_token = NULL, lease_until = NULL, leased_by = NULL
    WHERE id = ${job.id} AND lease_token = ${job.token}`
  requireHeld(count, job)
}

/** Moves the job to the dead letters. */
export async function bury(sql: Queryable, job: Claim, error: string): Promise<void> {
  const { count } = await sql`
    WITH gone AS (
      DELETE FROM jobs.live WHERE id = ${job.id} AND lease_token = ${job.token} RETURNING *
    )
    INSERT INTO jobs.dead (id, queue, key, payload, attempts, max_attempts, errors, created_at)
    SELECT id, queue, key, payload, ${job.attempt}, max_attempts, ${failures(sql, job, error)}, created_at
    FROM gone`
  requireHeld(count, job)
}

/** Puts a dead job back to work, with all its attempts before it. */
export async function revive(sql: Queryable, id: bigint): Promise<void> {
  const revived = await sql`
    WITH dead AS (
      DELETE FROM jobs.dead
      WHERE id = ${id} AND NOT EXISTS (
        SELECT FROM jobs.live WHERE live.queue = dead.queue AND live.key = dead.key
      )
      RETURNING *
    ), added AS (
      INSERT INTO jobs.live (id, queue, key, payload, max_attempts, errors, created_at)
      OVERRIDING SYSTEM VALUE
      SELECT id, queue, key, payload, max_attempts, errors, created_at FROM dead
      RETURNING queue
    )
    SELECT pg_notify(${CHANNEL}, queue) FROM added`
  if (revived.count > 0) return
  const [dead] = await sql<{ key: string }[]>`SELECT key FROM jobs.dead WHERE id = ${id}`
  throw new Error(
    dead
      ? `job ${id} stays dead: a live job has its key ${dead.key}; revive it when that one is done`
      : `no dead job has the id ${id}; select id, queue, errors from jobs.dead shows those there are`,
  )
}

function requireHeld(count: number, job: Claim): void {
  if (count === 0) throw new LeaseLostError(`job ${job.id} of ${job.queue} is in other hands`)
}

/** The job's errors with one more; the last ten are kept. */
function failures(sql: Queryable, job: Claim, error: string) {
  const failure = sql`jsonb_build_object('attempt', ${job.attempt}::integer, 'at', now(), 'error', ${error}::text)`
  return sql`jsonb_path_query_array(errors || ${failure}, '$[last - 9 to last]')`
}
