// Sends the messages of one webhook after the other. A crash between an attempt and its record leaves the message due: it is sent again, with
// the same id.
import type { Context } from '../../kit/context.ts'
import {
  type Claimed,
  claimDue,
  dueDeliveries,
  recordAttempt,
  release,
  type Standing,
} from '../../market/webhooks/deliveries.ts'
import { post, TIMEOUT_MS } from '../../market/webhooks/post.ts'
import { countMessages } from './figures.ts'
import { nextAttempt, standingAfter } from './retries.ts'

/** So many messages are sent to one webhook before others have their turn, as long as that takes no longer than `TURN_MS`. */
const IN_A_TURN = 20
const TURN_MS = 20_000
/** Longer than a turn and its last attempt. */
export const LEASE_MS = 2 * (TURN_MS + TIMEOUT_MS)

/** Claims webhooks that have something to send. */
export const claim = ({ sql, clock }: Pick<Context, 'sql' | 'clock'>, limit: number): Promise<Claimed[]> =>
  claimDue(sql, { now: new Date(clock()), leaseMs: LEASE_MS, limit })

/** Sends what is due to a claimed webhook, up to the first message that fails, and gives it back. */
export async function sendTo(context: Context, claimed: Claimed): Promise<void> {
  const { sql, clock } = context
  const { webhook_id } = claimed
  const begun = performance.now()
  let standing: Standing = {
    failures: claimed.failures,
    failingSince: claimed.failing_since,
    pausedUntil: null,
    disabledReason: null,
  }
  const messages = await dueDeliveries(sql, webhook_id, { now: new Date(clock()), limit: IN_A_TURN })
  for (const { delivery_id, body, attempts } of messages) {
    if (performance.now() - begun > TURN_MS) break
    const attempt = await post(context, claimed, { id: delivery_id, body })
    const now = new Date(clock())
    const { isDelivered } = attempt
    const nextAt = isDelivered ? null : nextAttempt(attempts + 1, attempt, now, Math.random)
    if (!(await recordAttempt(sql, claimed, delivery_id, attempt, { now, nextAt }))) return
    const counted = countMessages(context)
    counted[isDelivered ? 'delivered' : nextAt ? 'retried' : 'given_up'] += 1
    standing = standingAfter(
      { failures: standing.failures, failing_since: standing.failingSince },
      attempt,
      now,
      Math.random,
    )
    if (standing.disabledReason) {
      counted.disabled += 1
      context.log.info({ webhook: webhook_id, reason: standing.disabledReason }, 'a webhook was disabled')
    }
    if (!isDelivered) break
  }
  await release(sql, claimed, standing, new Date(clock()))
}
