/** A request is answered with a status of its own, and no payment is looked at. */
export class HttpRefusal extends Error {
  override readonly name = 'HttpRefusal'
  readonly status: number
  readonly error: string
  readonly detail: string | undefined
  readonly retryAfterSeconds: number | undefined

  constructor(
    status: number,
    error: string,
    { detail, retryAfterSeconds }: { detail?: string; retryAfterSeconds?: number } = {},
  ) {
    super(detail ?? error)
    this.status = status
    this.error = error
    this.detail = detail
    this.retryAfterSeconds = retryAfterSeconds
  }
}

export const badRequest = (error: string) => new HttpRefusal(400, error)
export const unauthorized = (detail: string) => new HttpRefusal(401, 'unauthorized', { detail })
