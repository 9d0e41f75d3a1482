import { type Bucket, FULL, type Rate, stepMsOf, takeFrom } from './bucket.ts'
import { createClients } from './clients.ts'

/** Takes tokens of a client; returns how many seconds it must wait, 0 when it may go on. */
export type LocalLimiter = (client: string, nowMs: number, cost?: number) => number

/** A token bucket for each client, in the memory of this process. */
export function createLimiter(rate: Rate): LocalLimiter {
  // A bucket that was not used for this long is full again and can be dropped.
  const bucketOf = createClients(rate.burst * stepMsOf(rate), () => ({ ...FULL }))
  return (client, nowMs, cost) => takeLocally(bucketOf(client, nowMs), rate, nowMs, cost)
}

/** Takes all of these tokens from the bucket, or none; returns the seconds to wait for them. */
export function takeLocally(bucket: Bucket, rate: Rate, nowMs: number, cost = 1): number {
  const wanted = Math.min(cost, rate.burst)
  let after = takeFrom(bucket, nowMs, rate, wanted)
  const isGranted = after.granted === wanted
  if (!isGranted) after = takeFrom(bucket, nowMs, rate, 0)
  bucket.fullAt = after.fullAt
  bucket.takenAt = after.takenAt
  return isGranted ? 0 : (after.fullAt - after.takenAt - (rate.burst - wanted) * stepMsOf(rate)) / 1_000
}
