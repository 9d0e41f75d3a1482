import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plain } from '../../../format/text.ts'
import { useSignOut } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Moment } from '../../../ui/values.tsx'
import { OwnerPage } from '../parts/frame.tsx'
import { programOf } from './program.ts'

export const SessionsPage = () => (
  <OwnerPage
    title="Sessions"
    lead="Browsers and programs that are signed in with your account. Close those that you do not know."
  >
    {() => <Sessions />}
  </OwnerPage>
)

function Sessions() {
  const api = useApi()
  const queries = useQueryClient()
  const signOut = useSignOut()
  const { data, error, refetch } = useQuery(read(api, '/v1/auth/sessions'))
  const close = useMutation({
    mutationFn: (id: string | undefined) =>
      id === undefined
        ? api.delete('/v1/auth/sessions')
        : api.delete('/v1/auth/sessions/{session_id}', { params: { path: { session_id: id } } }),
    onSuccess: async (_, id) => {
      await queries.invalidateQueries({ queryKey: ['/v1/auth/sessions'] })
      announce(id === undefined ? 'All other sessions are closed' : 'The session is closed')
    },
  })
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={6} />
  return (
    <div className="stack">
      {close.error && <ErrorNote error={close.error} />}
      <ul className="list">
        {data.sessions.map((session) => (
          <li key={session.session_id} className="row row-apart">
            <div>
              <p className="row">
                <strong title={plain(session.user_agent, 200)}>{programOf(session.user_agent)}</strong>
                {session.is_current && <Badge tone="good">This one</Badge>}
                {session.may_only_read && <Badge>Only reads</Badge>}
              </p>
              <p className="small soft">
                Opened <Moment at={session.opened_at} />, ends <Moment at={session.expires_at} />
              </p>
            </div>
            {session.is_current ? (
              <Button onClick={() => signOut()}>Sign out</Button>
            ) : (
              <Button
                kind="bad"
                isBusy={close.isPending && close.variables === session.session_id}
                onClick={() => close.mutate(session.session_id)}
              >
                Close
              </Button>
            )}
          </li>
        ))}
      </ul>
      {data.sessions.length > 1 && (
        <Button
          kind="bad"
          isBusy={close.isPending && close.variables === undefined}
          onClick={() => close.mutate(undefined)}
        >
          Close all others
        </Button>
      )}
    </div>
  )
}
