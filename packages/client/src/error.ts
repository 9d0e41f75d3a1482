/**
 * The market refused, answered something else than it should, or did not answer.
 *
 * @example
 * ```ts
 * import { createReferrerClient, ReferrerError } from '@referrer/client'
 *
 * const market = createReferrerClient({ url: 'https://market.test', fetch: async () => Response.json({ error: 'agent not found' }, { status: 404 }) })
 * const error = await market.get('/v1/agent/{id}', { params: { path: { id: 7 } } }).catch((thrown) => thrown)
 * error instanceof ReferrerError // → true
 * error.status // → 404
 * error.reason // → 'agent not found'
 * error.message // → 'agent not found (404, GET /v1/agent/{id})'
 * ```
 */
export class ReferrerError extends Error {
  override readonly name = 'ReferrerError'
  /** 0: there was no answer, so it is not known whether the request was carried out, or it was never sent. */
  readonly status: number
  /** What the market said, exactly. */
  readonly reason: string
  /** Which field is wrong, and what would be right; or what to do. */
  readonly detail: string | undefined
  /** After how many milliseconds the market wants to be asked again. */
  readonly retryAfterMs: number | undefined
  /** Like `GET /v1/agent/{id}`. */
  readonly route: string

  constructor(
    route: string,
    told: { status?: number; reason: string; detail?: string; retryAfterMs?: number; cause?: unknown },
  ) {
    const { status = 0, reason, detail, retryAfterMs, cause } = told
    const text = detail === undefined ? reason : `${reason}: ${detail}`
    super(`${text} (${status ? `${status}, ` : ''}${route})`, { cause })
    this.status = status
    this.reason = reason
    this.detail = detail
    this.retryAfterMs = retryAfterMs
    this.route = route
  }
}
