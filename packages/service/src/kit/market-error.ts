/** Why an operation was refused. The kind ends the message that tools show; HTTP makes a status of it. */
export type Refusal =
  | 'invalid input'
  | 'not found'
  | 'already exists'
  | 'conflict'
  | 'unauthorized'
  | 'rate limited'

/**
 * An operation that was refused, or (`unavailable`) could not be done now. `message` is what a tool shows, whole; a route that
 * promises a text of its own shows that instead.
 */
export class MarketError extends Error {
  override readonly name = 'MarketError'
  readonly kind: Refusal | 'unavailable'
  /** What a route tells beside its text: which part is wrong, and what would be right. */
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

/** Refused, with the kind at the end: `escrow_id is required: invalid input`. */
export const refused = (kind: Refusal, what: string) => new MarketError(kind, `${what}: ${kind}`)

/** Nothing was done and trying again may help. */
export const unavailable = (what: string, cause: unknown) => new MarketError('unavailable', what, { cause })

/** Refused for now: what may be done until then is done. */
export class Exhausted extends MarketError {
  readonly retryAfterSeconds: number

  constructor(detail: string, retryAfterSeconds: number) {
    super('rate limited', `rate limited: ${detail}`, { detail })
    this.retryAfterSeconds = retryAfterSeconds
  }
}
