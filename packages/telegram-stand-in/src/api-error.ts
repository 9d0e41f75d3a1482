/** What the Bot API answers instead of a result. */
export interface Failure {
  error_code: number
  description: string
  parameters?: { retry_after?: number; migrate_to_chat_id?: number }
}

export class ApiError extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.description)
    this.failure = failure
  }
}

export const badRequest = (why: string) =>
  new ApiError({ error_code: 400, description: `Bad Request: ${why}` })

export const forbidden = (why: string) => new ApiError({ error_code: 403, description: `Forbidden: ${why}` })

export const conflict = (why: string) => new ApiError({ error_code: 409, description: `Conflict: ${why}` })

/** The answer of a method that was called too often. */
export const tooManyRequests = (seconds: number): Failure => ({
  error_code: 429,
  description: `Too Many Requests: retry after ${seconds}`,
  parameters: { retry_after: seconds },
})
