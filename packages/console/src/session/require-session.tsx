import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useApi } from '../api/use-api.ts'
import { ErrorNote } from '../ui/errors.tsx'
import { PageSkeleton } from '../ui/skeleton.tsx'
import { type Session, sessionQuery } from './session.ts'

/** Shows what needs a session; whoever has none is sent to sign in, and back. */
export function RequireSession({ children }: { children: (session: Session) => ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery(useApi()))
  const { href } = useLocation()
  // One element for good: the location changes before this page is left, and each new element would go there again.
  const [toSignIn] = useState(<Navigate to="/sign-in" search={{ to: href }} replace />)
  if (data?.session) return children(data.session)
  if (data) return toSignIn
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  return <PageSkeleton />
}
