import { guardedFetch, HostNotAllowed, Unreachable } from '@referrer/net'
import type { Context } from '../../kit/context.ts'
import { type SecretState, signedHeaders } from './secrets.ts'

/** Longest time of one attempt. */
export const TIMEOUT_MS = 10_000
const MOST_BYTES = 4_096
/** How much of an answer its owner can read. */
const MOST_CHARACTERS = 200

/** What an attempt came to. */
export interface Attempt {
  isDelivered: boolean
  /** Null: there was no answer. */
  statusCode: number | null
  /** The first printable characters of the answer, or why there was none. */
  answer: string
  /** How long the endpoint asked us to wait. */
  retryAfterMs: number | undefined
}

/** Posts a signed message. Never rejects: whatever an endpoint does is an outcome. */
export async function post(
  { config, lookup, clock }: Pick<Context, 'config' | 'lookup' | 'clock'>,
  webhook: SecretState & { url: string },
  { id, body }: { id: string; body: string },
): Promise<Attempt> {
  // The endpoint compares the timestamp with its own clock, so that of a test would not do; what expires here goes by ours.
  const aheadMs = clock() - Date.now()
  const { old_secret_until } = webhook
  const state = {
    ...webhook,
    old_secret_until: old_secret_until && new Date(old_secret_until.getTime() - aheadMs),
  }
  const headers = signedHeaders(config.webhookKeys, state, { id, at: new Date(), body })
  try {
    const reach = { allowPrivateHosts: config.allowPrivateHosts, lookup }
    const fetched = await guardedFetch(reach, new URL(webhook.url), {
      headers,
      body,
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
      cuts: true,
    })
    const { status } = fetched
    return {
      isDelivered: status >= 200 && status < 300,
      statusCode: status,
      answer: printable(fetched.body.toString('utf8')),
      retryAfterMs: waitOf(fetched.headers['retry-after']),
    }
  } catch (error) {
    if (!(error instanceof HostNotAllowed || error instanceof Unreachable)) throw error
    return { isDelivered: false, statusCode: null, answer: printable(error.message), retryAfterMs: undefined }
  }
}

/** Postgres stores no NUL, and nobody's terminal should obey an endpoint. */
const printable = (text: string): string =>
  [
    ...text
      .toWellFormed()
      .replaceAll(/[\p{C}\p{Z}]+/gu, ' ')
      .trim(),
  ]
    .slice(0, MOST_CHARACTERS)
    .join('')

/** Seconds or a date. */
function waitOf(retryAfter: string | undefined): number | undefined {
  if (retryAfter === undefined) return undefined
  const ms = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : Date.parse(retryAfter) - Date.now()
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}
