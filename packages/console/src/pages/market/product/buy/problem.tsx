import { ApiError } from '../../../../api/error.ts'
import { plain } from '../../../../format/text.ts'
import { ErrorNote } from '../../../../ui/errors.tsx'

/** Why a purchase does not go on, and what to do. */
export class Problem extends Error {
  override readonly name = 'Problem'
  readonly next: string

  constructor(message: string, next: string, options?: ErrorOptions) {
    super(message, options)
    this.next = next
  }
}

const REJECTED = 4_001

/** Wallets wrap the refusal of their owner in errors of their own. */
function isDeclined(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if ((at as { code?: unknown }).code === REJECTED || at.name === 'UserRejectedRequestError') return true
  }
  return false
}

export function problemOf(error: unknown): unknown {
  if (isDeclined(error)) {
    return new Problem(
      'You declined in your wallet',
      'Nothing was paid. Press the button again when you want to.',
    )
  }
  if (!(error instanceof ApiError)) return error
  if (error.status === 503) {
    return new Problem(
      `The shop does not answer${error.detail ? `: ${plain(error.detail, 200)}` : ''}`,
      'Try again in a minute, or choose another product.',
    )
  }
  if (error.status === 404) {
    return new Problem(
      'Nothing is sold through this review now',
      'Reload the page, or choose another product.',
    )
  }
  return error
}

export const ProblemNote = ({ error }: { error: unknown }) => {
  const problem = problemOf(error)
  if (!(problem instanceof Problem)) return <ErrorNote error={problem} />
  return (
    <div className="note note-bad" role="alert">
      <p>
        <strong>{plain(problem.message, 400)}.</strong> {problem.next}
      </p>
    </div>
  )
}
