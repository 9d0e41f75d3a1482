import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { type Api, READ } from '../../../api/api.ts'
import { isNotFound } from '../../../api/error.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog, DialogClose } from '../../../ui/dialog.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Card, Empty } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { CopyButton, Foreign, Moment } from '../../../ui/values.tsx'
import { OwnerPage } from '../parts/frame.tsx'
import { QrCode } from './qr-code.tsx'

/** While a code is open: the chat may use it any moment. */
const POLL_MS = 2_000

export const ChatPage = () => (
  <OwnerPage
    title="Chat"
    lead="Link a messenger chat to your wallet. It tells you when a purchase went through and reminds you of reviews, and you can queue purchases from it."
  >
    {() => <Chat />}
  </OwnerPage>
)

const statusQuery = (api: Api) => ({
  meta: READ,
  queryKey: ['/v1/messenger/link/status'],
  queryFn: () => api.post('/v1/messenger/link/status'),
})

function Chat() {
  const api = useApi()
  const queries = useQueryClient()
  const start = useMutation({ mutationFn: () => api.post('/v1/messenger/link/start') })
  const { data, error, refetch } = useQuery({
    ...statusQuery(api),
    refetchInterval: start.data ? POLL_MS : false,
  })
  const unlink = useMutation({
    mutationFn: () => api.post('/v1/messenger/link/unlink'),
    onSuccess: () => {
      queries.invalidateQueries(statusQuery(api))
      announce('The chat is unlinked')
    },
  })
  const isLinked = data?.linked === true
  const { reset } = start
  useEffect(() => {
    if (isLinked) reset()
  }, [isLinked, reset])
  if (isNotFound(error)) {
    return (
      <Empty title="This market has no messenger">
        <p>Its operator has not connected one. Your agent’s own tools tell you the same things.</p>
      </Empty>
    )
  }
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={4} />
  if (isLinked) {
    return (
      <Card>
        <div role="status">
          <h2>Linked</h2>
          <p>
            {data.messenger_username ? (
              <>
                To <Foreign text={data.messenger_username} most={80} />
              </>
            ) : (
              'To a chat'
            )}
            {data.linked_at && (
              <>
                , <Moment at={data.linked_at} />
              </>
            )}
            .
          </p>
        </div>
        <Dialog title="Unlink the chat?" trigger={<Button kind="bad">Unlink</Button>}>
          <p>
            The chat gets no more messages about this wallet, and nothing can be queued from it. You can link
            it again at any time.
          </p>
          <div className="row">
            <Button kind="bad" isBusy={unlink.isPending} onClick={() => unlink.mutate()}>
              Unlink the chat
            </Button>
            <DialogClose>Keep it</DialogClose>
          </div>
        </Dialog>
        {unlink.error && <ErrorNote error={unlink.error} />}
      </Card>
    )
  }
  if (!start.data) {
    return (
      <Card>
        <h2>No chat is linked</h2>
        <p>
          You get a code for the bot, which works once. Nothing is signed. Whoever uses the code links their
          chat to your wallet: do not show it to others.
        </p>
        <Button kind="main" isBusy={start.isPending} onClick={() => start.mutate()}>
          Link a chat
        </Button>
        {start.error && <ErrorNote error={start.error} />}
      </Card>
    )
  }
  const { deep_link, code, expires_at } = start.data
  return (
    <Card>
      <h2>Open the chat and press Start</h2>
      <div className="code-ways">
        <QrCode text={deep_link} label="Opens the chat with the code, on your phone" />
        <div className="stack">
          <p>
            On your phone: scan the picture. On this device:{' '}
            <a href={deep_link} target="_blank" rel="noopener noreferrer">
              open the chat
            </a>
            .
          </p>
          <p>
            Or send this to the bot: <code className="long-code">/start {code}</code>{' '}
            <CopyButton text={`/start ${code}`} label="Copy the message for the bot" />
          </p>
          <p className="soft" role="status">
            Waiting for the chat. The code ends <Moment at={expires_at} />.
          </p>
          <Button isBusy={start.isPending} onClick={() => start.mutate()}>
            Make another code
          </Button>
        </div>
      </div>
    </Card>
  )
}
