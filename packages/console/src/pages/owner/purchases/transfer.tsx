// A plain transfer to the router: it is charged where it pays for its link, and can be taken back where it does not.
import { RefLink } from '@referrer/protocol'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Address } from 'viem'
import { read } from '../../../api/api.ts'
import { Problem } from '../../../api/problem.ts'
import { useApi } from '../../../api/use-api.ts'
import { plain } from '../../../format/text.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { type TakeBackCall, takeBackIn } from '../../../wallet/take-back.ts'
import { TakeBackButton } from '../../../wallet/take-back-button.tsx'
import { type Asked, signed } from './charge.ts'

export const Transfer = ({ session }: { session: Session }) => (
  <OwnWallet session={session}>{(connected) => <WithRouter connected={connected} />}</OwnWallet>
)

function WithRouter({ connected }: { connected: Connected }) {
  const { data, error } = useQuery(read(useApi(), '/.well-known/referrer-agent'))
  const router = data?.chains.find(({ chainId }) => chainId === connected.chainId)?.splitRouter
  if (error) return <ErrorNote error={error} />
  if (!router) return <Skeleton lines={4} />
  return <TransferForm connected={connected} router={router as Address} />
}

const NOTHING_SENT = 'Nothing was sent. Correct what is named, or try again later.'

function TransferForm({ connected, router }: { connected: Connected; router: Address }) {
  const api = useApi()
  const queries = useQueryClient()
  const [hash, setHash] = useState('')
  const [refLink, setRefLink] = useState('')
  const [isChecked, setChecked] = useState(false)
  const [call, setCall] = useState<TakeBackCall>()
  const txHash = /^0x[0-9a-fA-F]{64}$/.test(hash.trim()) ? hash.trim() : undefined
  const token = tokenOf(refLink.trim())
  const { mutate, isPending, error } = useMutation({
    mutationFn: (asked: Asked) => withProblems(ask(asked)),
    onSuccess: setCall,
  })
  async function ask(asked: Asked): Promise<TakeBackCall | undefined> {
    const answer = await api.post('/mpp/charge', { body: await signed(connected, router, asked) })
    if (answer.success) {
      await queries.invalidateQueries({ queryKey: ['/v1/wallet/purchases'] })
      announce('The transfer has paid for the product', 'It shows among your purchases in some seconds.')
      return undefined
    }
    const takeBack = takeBackIn(answer)
    if (!takeBack) throw new Problem(plain(answer.errorMessage, 300), NOTHING_SENT)
    return takeBack
  }
  if (call) {
    return (
      <TakeBackButton
        connected={connected}
        router={router}
        call={call}
        onDone={() => {
          announce('Your money is back in your wallet')
          setCall(undefined)
        }}
      />
    )
  }
  return (
    <form
      className="form"
      noValidate
      aria-label="A transfer"
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        const wrong = txHash === undefined ? 'hash' : 'ref_link'
        if (txHash === undefined || token === undefined) {
          ;(event.currentTarget.elements.namedItem(wrong) as HTMLElement | null)?.focus()
        } else if (!isPending) mutate({ txHash, token })
      }}
    >
      <Field
        label="Transaction of the transfer"
        error={isChecked && txHash === undefined ? 'Enter the hash: 0x and 64 digits.' : undefined}
      >
        <FieldControl name="hash" value={hash} onChange={(event) => setHash(event.target.value)} />
      </Field>
      <Field
        label="Ref link"
        help="That it was to pay for: it ends in /r/ and a long token."
        error={isChecked && token === undefined ? 'Copy the whole link of a review.' : undefined}
      >
        <FieldControl
          name="ref_link"
          inputMode="url"
          value={refLink}
          onChange={(event) => setRefLink(event.target.value)}
        />
      </Field>
      <p className="small soft">
        You sign that the transfer is for this link. If it is of the right price, it buys the product;
        otherwise you can take the money back.
      </p>
      <Button kind="main" type="submit" isBusy={isPending}>
        Sign and ask
      </Button>
      {error && <ErrorNote error={error} />}
    </form>
  )
}

function tokenOf(link: string): string | undefined {
  try {
    return RefLink.parse(link).token
  } catch {
    return undefined
  }
}
