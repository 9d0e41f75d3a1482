import type { Delivery } from '../../../kit/channel.ts'
import type { CallFailed } from './api.ts'

/** What became of a message whose call failed. */
export function deliveryOf(failure: CallFailed): Delivery {
  const { code, message: reason, retryAfterMs, neverLeft } = failure
  if (code === undefined) return { state: neverLeft ? 'retry' : 'unsure', reason }
  // The user has blocked the bot, was deleted, or has never written to it.
  if (code === 403 || (code === 400 && /chat not found/i.test(reason))) return { state: 'blocked', reason }
  // A wrong token is put right by the operator.
  if (code === 401 || code === 404 || code === 429 || code >= 500)
    return { state: 'retry', reason, ...(retryAfterMs !== undefined && { afterMs: retryAfterMs }) }
  if (code >= 400) return { state: 'refused', reason }
  return { state: 'unsure', reason }
}
