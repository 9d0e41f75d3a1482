import { Link, useRouter } from '@tanstack/react-router'
import { ApiError, isNotFound } from '../api/error.ts'
import { Problem } from '../api/problem.ts'
import { plain } from '../format/text.ts'
import { Button } from './button.tsx'

const nextOf = (error: unknown): string =>
  error instanceof ApiError || error instanceof Problem
    ? error.next
    : 'Reload the page. If it stays, tell the people who run this market.'

/** What went wrong and what to do next, where it happened. */
export const ErrorNote = ({ error, onRetry }: { error: unknown; onRetry?: (() => void) | undefined }) => (
  <div className="note note-bad" role="alert">
    <p>
      <strong>{plain(error instanceof Error ? error.message : String(error), 300)}.</strong> {nextOf(error)}
    </p>
    {error instanceof ApiError && error.detail && <p className="soft">{plain(error.detail, 600)}</p>}
    {onRetry && <Button onClick={onRetry}>Try again</Button>}
  </div>
)

export function ErrorPage({ error }: { error: unknown }) {
  const router = useRouter()
  if (isNotFound(error)) return <NotFoundPage />
  return (
    <>
      <h1>This page cannot be shown</h1>
      <ErrorNote error={error} onRetry={() => router.invalidate()} />
    </>
  )
}

export const NotFoundPage = () => (
  <>
    <h1>There is nothing here</h1>
    <p className="lead">This market has no page at this address, or what it showed is gone.</p>
    <p>
      <Link to="/">Go to the market’s first page</Link>. A ref link ends in /r/ and a long token: if a part of
      yours is missing, copy it again, whole.
    </p>
  </>
)
