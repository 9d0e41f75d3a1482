/** A refusal of the market, or no answer at all; `next` says what a person can do. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly status: number
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    message: string,
    options: { status: number; detail?: string; retryAfterSeconds?: number; cause?: unknown },
  ) {
    super(message, { cause: options.cause })
    this.status = options.status
    this.detail = options.detail
    this.retryAfterSeconds = options.retryAfterSeconds
  }

  static unreachable(path: string, cause: unknown): unknown {
    if (cause instanceof Error && cause.name === 'AbortError') return cause
    return new ApiError('the market does not answer', { status: 0, detail: path, cause })
  }

  static of(path: string, response: Response, body: unknown): ApiError {
    const { error, detail } = Object(body) as { error?: unknown; detail?: unknown }
    const retryAfter = Number(response.headers.get('retry-after'))
    return new ApiError(typeof error === 'string' ? error : `${path} answered ${response.status}`, {
      status: response.status,
      ...(typeof detail === 'string' && { detail }),
      ...(retryAfter > 0 && { retryAfterSeconds: retryAfter }),
    })
  }

  get next(): string {
    if (this.status === 0) return 'Check your connection, then try again.'
    if (this.status === 401) return 'Sign in, then try again.'
    if (this.status === 403) return 'Sign in with the wallet that owns this.'
    if (this.status === 404)
      return 'It may have been removed, or the address is incomplete. Search for it instead.'
    if (this.status === 429) return `Wait ${this.retryAfterSeconds ?? 'a few'} seconds, then try again.`
    if (this.status >= 500) return 'This is our fault, and it is logged. Try again in a minute.'
    return 'Change what you entered, then try again.'
  }
}

export const isNotFound = (error: unknown): boolean => error instanceof ApiError && error.status === 404
