import { useQuery } from '@tanstack/react-query'
import { Navigate, useLocation } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { useApi } from '../api/use-api.ts'
import { ErrorNote } from '../ui/errors.tsx'
import { PageSkeleton } from '../ui/skeleton.tsx'
import { type Session, sessionQuery } from './session.ts'

/** Shows what needs a session; whoever has none is sent to sign in, and back. */
export function RequireSession({ children }: { children: (session: Session) => ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery(useApi()))
  const { href } = useLocation()
  if (data?.session) return children(data.session)
  if (data) return <Navigate to="/sign-in" search={{ to: href }} replace />
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  return <PageSkeleton />
}
