import { useMutation } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Card, Empty } from '../../../ui/parts.tsx'
import { Foreign, Hash } from '../../../ui/values.tsx'
import { OwnerPage } from '../parts/frame.tsx'

const route = getRouteApi('/link')

export const LinkPage = () => (
  <OwnerPage title="Link a chat">{(session) => <Confirm address={session.address} />}</OwnerPage>
)

function Confirm({ address }: { address: string }) {
  const api = useApi()
  const { code } = route.useSearch()
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: (given: string) => api.post('/v1/messenger/link/confirm', { body: { code: given } }),
  })
  if (code === undefined) {
    return (
      <Empty title="There is no code in this address">
        <p>
          Send /start to the bot, and open the link that it answers with; or{' '}
          <Link to="/me/chat">link a chat from here</Link>.
        </p>
      </Empty>
    )
  }
  if (data) {
    return (
      <div className="note note-good" role="status">
        <p>
          <strong>Linked.</strong> The chat
          {data.messenger_username && (
            <>
              {' '}
              of <Foreign text={data.messenger_username} most={80} />
            </>
          )}{' '}
          now gets messages about your wallet. You can go back to it.
        </p>
        <p>
          <Link to="/me/chat">See the link</Link>
        </p>
      </div>
    )
  }
  return (
    <Card>
      <p>
        The chat that gave you this link will be linked to <Hash value={address} />. It gets messages about
        your purchases, and purchases can be queued from it for your agents. A chat that is linked now is
        replaced.
      </p>
      <p>
        <strong>Only go on if you asked the bot for the link yourself.</strong>
      </p>
      <Button kind="main" isBusy={isPending} onClick={() => mutate(code)}>
        Link this chat
      </Button>
      {error && <ErrorNote error={error} />}
    </Card>
  )
}
