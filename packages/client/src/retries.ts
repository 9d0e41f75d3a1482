import type { PathOf } from './types.ts'

/**
 * Requests other than reads that may be sent again when nobody knows whether the first one arrived: a second one changes nothing more.
 * A vote, a registration, a proof, an intent or a link code would be there twice, or be refused although the first was taken.
 *
 * @example
 * ```ts
 * import { IDEMPOTENT_POSTS } from '@referrer/client'
 *
 * IDEMPOTENT_POSTS.has('/v1/spending-limits') // → true
 * IDEMPOTENT_POSTS.has('/v1/votes/step2') // → false
 * ```
 */
export const IDEMPOTENT_POSTS: ReadonlySet<string> = new Set<PathOf<'post'>>([
  '/v1/votes/step1',
  '/v1/cashback-rate/step1',
  '/v1/cashback-rate/step2',
  '/v1/review/register',
  '/v1/spending-limits',
  '/v1/merchant/product',
  '/v1/merchant/profile',
  '/v1/merchant/product/readiness',
  '/v1/messenger/link/status',
  '/v1/messenger/link/unlink',
  '/mpp/charge',
])

export const isIdempotent = (method: string, path: string): boolean =>
  method === 'GET' || method === 'PUT' || (method === 'POST' && IDEMPOTENT_POSTS.has(path))

/** Whoever asks for more patience than that gets it from the caller, who is told by `retryAfterMs`. */
const LONGEST_WAIT_MS = 30_000
const FIRST_WAIT_MS = 250
/** Answers of what stands before a market that is down or busy. */
const UNANSWERED = new Set([502, 503, 504])

/** How long to wait before the same request is sent again; undefined: never. */
export function waitBeforeRetry(
  { attempt, isRepeatable }: { attempt: number; isRepeatable: boolean },
  answer?: { status: number; retryAfterMs: number | undefined },
): number | undefined {
  const backOffMs = FIRST_WAIT_MS * 2 ** attempt * (0.5 + Math.random() / 2)
  if (!answer) return isRepeatable ? backOffMs : undefined
  const { status, retryAfterMs } = answer
  if (retryAfterMs !== undefined && (status === 429 || status === 503)) {
    return retryAfterMs <= LONGEST_WAIT_MS ? retryAfterMs : undefined
  }
  // Too many requests: this one was not looked at.
  if (status === 429) return backOffMs
  return isRepeatable && UNANSWERED.has(status) ? backOffMs : undefined
}

/** From `Retry-After`: seconds or a date. */
export function readRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) return undefined
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1_000
  const at = Date.parse(header)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}

export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted()
    const abort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }, ms)
    signal?.addEventListener('abort', abort, { once: true })
  })
}
