// A messenger of the operator's own: messages go out and come in as signed JSON.
import type { Delivery } from '../../../kit/channel.ts'
import type { WebhookConfig } from '../../../kit/config.ts'
import { hasNeverLeft } from '../no-connection.ts'
import type { Messenger } from '../reception.ts'
import { webhookHook } from './hook.ts'
import { SIGNATURE_HEADER, sign, TIMESTAMP_HEADER } from './signature.ts'

const TIMEOUT_MS = 10_000
/** About a day: after the first ones, an attempt is made every 7 to 15 minutes. */
const MOST_ATTEMPTS = 130

export function openWebhook(config: WebhookConfig, fetch: typeof globalThis.fetch): Messenger {
  const webhook: Messenger = {
    name: 'webhook',
    deduplicates: true,
    mostAttempts: MOST_ATTEMPTS,
    deepLink: (code) => config.link.replaceAll('{code}', code),
    async send(chat, { text, buttons = [] }, key) {
      const body = JSON.stringify({ id: key, chat, text, buttons })
      // The endpoint compares it with its own clock, so that of a test would not do.
      const timestamp = String(Math.floor(Date.now() / 1_000))
      try {
        const response = await fetch(config.url, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            'idempotency-key': key,
            [TIMESTAMP_HEADER]: timestamp,
            [SIGNATURE_HEADER]: sign(config.secret, timestamp, body),
          },
          body,
          redirect: 'manual',
          signal: AbortSignal.timeout(TIMEOUT_MS),
        })
        await response.body?.cancel()
        return deliveryOf(response.status, response.headers.get('retry-after'))
      } catch (error) {
        const { cause, name } = error as Error
        const code = (cause as { code?: unknown } | undefined)?.code
        const reason = `no answer (${typeof code === 'string' ? code : name})`
        return { state: hasNeverLeft(cause) ? 'retry' : 'unsure', reason }
      }
    },
    // The endpoint's users have names of its own, which it does not tell.
    identify: async () => undefined,
    receive: (context, answer) => ({
      workers: [],
      hooks: [webhookHook({ context, channel: webhook, secret: config.secret, answer })],
    }),
  }
  return webhook
}

function deliveryOf(status: number, retryAfter: string | null): Delivery {
  const reason = `status ${status}`
  if (status >= 200 && status < 300) return { state: 'sent' }
  if (status === 410) return { state: 'blocked', reason }
  if (status === 429 || status === 503) {
    const afterMs = waitOf(retryAfter)
    return { state: 'retry', reason, ...(afterMs !== undefined && { afterMs }) }
  }
  if (status >= 300 && status < 400)
    return { state: 'retry', reason: `${reason}: redirects are not followed` }
  const isTemporary = status === 408 || status === 425
  if (status >= 400 && status < 500 && !isTemporary) return { state: 'refused', reason }
  return { state: 'unsure', reason }
}

/** Seconds or a date. */
function waitOf(retryAfter: string | null): number | undefined {
  if (retryAfter === null) return undefined
  const ms = /^\d+$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}
