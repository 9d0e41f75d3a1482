import { type Bucket, FULL, type Rate, stepMsOf, takeFrom, takenOf } from './bucket.ts'
import { createClients } from './clients.ts'

/** Takes a token of a client; returns how many seconds it must wait, 0 when it may go on. */
export type LocalLimiter = (client: string, nowMs: number) => number

/** A token bucket for each client, in the memory of this process. */
export function createLimiter(rate: Rate): LocalLimiter {
  // A bucket that was not used for this long is full again and can be dropped.
  const bucketOf = createClients(rate.burst * stepMsOf(rate), () => ({ ...FULL }))
  return (client, nowMs) => takeLocally(bucketOf(client, nowMs), rate, nowMs)
}

/** Takes a token of the bucket; returns the seconds to wait for one. */
export function takeLocally(bucket: Bucket, rate: Rate, nowMs: number): number {
  const after = takeFrom(bucket, nowMs, rate, 1)
  bucket.fullAt = after.fullAt
  bucket.takenAt = after.takenAt
  return takenOf(after, rate, 1).waitSeconds
}
