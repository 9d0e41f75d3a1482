// Registers an agent: an identity that exists, or a new one that the wallet mints first.
import { identityIn } from '@referrer/client/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Address, Hash } from 'viem'
import type { Api } from '../../../api/api.ts'
import { ApiError } from '../../../api/error.ts'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Dialog } from '../../../ui/dialog.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { announce } from '../../../ui/toast.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { transact } from '../../../wallet/transaction.ts'

/** The market may have seen the identity on the chain before we tell it. */
const register = (api: Api, agentId: number): Promise<unknown> =>
  api.post('/v1/agent/register', { body: { agent_id: agentId } }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 409) throw error
  })

export function RegisterAgent({ session }: { session: Session }) {
  const [isOpen, setOpen] = useState(false)
  const queries = useQueryClient()
  const onDone = (agentId: number) => {
    setOpen(false)
    announce(`Agent ${agentId} is registered`)
    queries.invalidateQueries({ queryKey: ['/v1/agent'] })
  }
  return (
    <Dialog
      title="Register an agent"
      trigger={<Button kind="main">Register an agent</Button>}
      isOpen={isOpen}
      onOpenChange={setOpen}
    >
      <Tabs
        label="Which identity"
        tabs={[
          {
            id: 'new',
            title: 'A new one',
            content: (
              <OwnWallet session={session}>
                {(connected) => <Mint connected={connected} onDone={onDone} />}
              </OwnWallet>
            ),
          },
          { id: 'old', title: 'One that I have', content: <Existing onDone={onDone} /> },
        ]}
      />
    </Dialog>
  )
}

interface Done {
  onDone: (agentId: number) => void
}

function Mint({ connected, onDone }: Done & { connected: Connected }) {
  const api = useApi()
  // Kept, so that a second try does not mint a second identity.
  const [minted, setMinted] = useState<number>()
  const [sent, setSent] = useState<Hash | null>(null)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => withProblems(mint()),
    onSuccess: onDone,
  })
  async function mint(): Promise<number> {
    if (minted !== undefined) {
      await register(api, minted)
      return minted
    }
    const { chains } = await api.get('/.well-known/referrer-agent')
    const chain = chains.find(({ chainId }) => chainId === connected.chainId)
    if (!chain?.identityRegistry) throw new Error('the market names no identity registry')
    const call = {
      address: chain.identityRegistry as Address,
      abi: identityRegistryAbi,
      functionName: 'register',
      args: [''],
    }
    const { logs } = await transact(connected, call, { sent, onSent: setSent })
    const agentId = Number(identityIn(logs))
    setMinted(agentId)
    await register(api, agentId)
    return agentId
  }
  return (
    <div className="stack">
      <p>
        Your wallet sends one transaction that mints an ERC-8004 identity. It costs the network’s fee and
        nothing else. Then the agent is told to the market, without another signature.
      </p>
      <Button kind="main" isBusy={isPending} onClick={() => mutate()}>
        {isPending ? 'Waiting for your wallet and the chain …' : 'Mint and register'}
      </Button>
      {error && <ErrorNote error={error} />}
    </div>
  )
}

function Existing({ onDone }: Done) {
  const api = useApi()
  const [text, setText] = useState('')
  const [wrong, setWrong] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: async (agentId: number) => {
      await register(api, agentId)
      return agentId
    },
    onSuccess: onDone,
  })
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        const isId = /^\d{1,15}$/.test(text.trim())
        setWrong(isId ? undefined : 'Enter the number of the identity, such as 42.')
        if (isId && !isPending) mutate(Number(text.trim()))
      }}
    >
      <Field
        label="Identity number"
        help="The ERC-8004 identity that this account owns. Nothing is signed or paid."
        error={wrong}
      >
        <FieldControl inputMode="numeric" value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <Button kind="main" type="submit" isBusy={isPending}>
        Register
      </Button>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
