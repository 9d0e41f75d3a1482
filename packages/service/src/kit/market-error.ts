/** The kind of a refusal. MCP tools show it at the end of the message; the HTTP door maps it to a status. */
export type Refusal =
  | 'invalid input'
  | 'not found'
  | 'already exists'
  | 'conflict'
  | 'unauthorized'
  | 'rate limited'

/**
 * An operation was refused, or could not be done now (`unavailable`). A tool shows `message` as it is; a route shows it too, unless
 * the interface fixes another text for the route.
 */
export class MarketError extends Error {
  override readonly name = 'MarketError'
  readonly kind: Refusal | 'unavailable'
  /** Extra help in an HTTP answer: which field is wrong, and what is expected. */
  readonly detail: string | undefined

  constructor(
    kind: Refusal | 'unavailable',
    message: string,
    { detail, ...options }: ErrorOptions & { detail?: string } = {},
  ) {
    super(message, options)
    this.kind = kind
    this.detail = detail
  }
}

/** A refusal whose message ends with its kind: `escrow_id is required: invalid input`. */
export const refused = (kind: Refusal, what: string) => new MarketError(kind, `${what}: ${kind}`)

/** The operation did nothing, and a retry may succeed. */
export const unavailable = (what: string, cause: unknown) => new MarketError('unavailable', what, { cause })

/** A rate limit or quota is used up; the caller may retry after `retryAfterSeconds`. */
export class RateLimited extends MarketError {
  readonly retryAfterSeconds: number

  constructor(detail: string, retryAfterSeconds: number) {
    super('rate limited', `rate limited: ${detail}`, { detail })
    this.retryAfterSeconds = retryAfterSeconds
  }
}
