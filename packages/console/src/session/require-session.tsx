import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { useApi } from '../api/use-api.ts'
import { ErrorNote } from '../ui/errors.tsx'
import { PageSkeleton } from '../ui/skeleton.tsx'
import { type Session, sessionQuery } from './session.ts'

/** Shows what needs a session; whoever has none is sent to sign in, and back. */
export function RequireSession({ children }: { children: (session: Session) => ReactNode }) {
  const { data, error, refetch } = useQuery(sessionQuery(useApi()))
  const router = useRouter()
  const isSignedOut = data?.session === null
  useEffect(() => {
    // Once: while the other page loads, the address is already that of the other page.
    if (isSignedOut) {
      router.navigate({ to: '/sign-in', search: { to: router.state.location.href }, replace: true })
    }
  }, [isSignedOut, router])
  if (data?.session) return children(data.session)
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  return <PageSkeleton />
}
