// When a message is tried again, and when its webhook is given up. Pure.
import { type Backoff, backoffMs } from '../../machinery/workers/backoff.ts'
import type { Claimed, Standing } from '../../market/webhooks/deliveries.ts'
import type { Attempt } from '../../market/webhooks/post.ts'

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The schedule that Standard Webhooks recommends: the first attempt is made at once, each other one so long after the one before. */
const DELAYS_MS = [
  5 * SECOND,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
]
/** After a failure nothing is sent to the same endpoint for a while, so that one that is down or slow does not take the turns of others. */
const PAUSE: Backoff = { firstMs: 5 * SECOND, maxMs: 5 * MINUTE }
/** Upper limit for the time that an endpoint asks us to wait. */
const LONGEST_WAIT_MS = DAY
/** An endpoint that failed for so long is disabled. */
const GIVEN_UP_AFTER_MS = 5 * DAY

/** When a message that failed is tried next; null: not any more. `attempts` counts the failed one. */
export function nextAttempt(
  attempts: number,
  { statusCode, retryAfterMs = 0 }: Pick<Attempt, 'statusCode' | 'retryAfterMs'>,
  now: Date,
  random: () => number,
): Date | null {
  const delay = DELAYS_MS[attempts - 1]
  if (delay === undefined || statusCode === 410) return null
  const withJitter = Math.round(delay * (1 + random() / 10))
  return new Date(now.getTime() + Math.max(withJitter, Math.min(retryAfterMs, LONGEST_WAIT_MS)))
}

/** How an attempt leaves its endpoint. */
export function standingAfter(
  { failures, failing_since }: Pick<Claimed, 'failures' | 'failing_since'>,
  { isDelivered, statusCode, retryAfterMs = 0 }: Pick<Attempt, 'isDelivered' | 'statusCode' | 'retryAfterMs'>,
  now: Date,
  random: () => number,
): Standing {
  if (isDelivered) return { failures: 0, failingSince: null, pausedUntil: null, disabledReason: null }
  const failingSince = failing_since ?? now
  const pauseMs = Math.max(backoffMs(failures + 1, PAUSE, random), Math.min(retryAfterMs, LONGEST_WAIT_MS))
  const isGivenUp = now.getTime() - failingSince.getTime() >= GIVEN_UP_AFTER_MS
  return {
    failures: failures + 1,
    failingSince,
    pausedUntil: new Date(now.getTime() + pauseMs),
    disabledReason:
      statusCode === 410
        ? 'the endpoint answered 410 Gone'
        : isGivenUp
          ? 'every attempt of the last 5 days failed'
          : null,
  }
}
