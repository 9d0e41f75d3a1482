import { identityIn } from '@referrer/client/chain'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { merchantIdOf } from '../parts/ids.ts'
import { shopsOf } from '../parts/market-state.ts'
import { Transaction } from '../parts/transaction.tsx'
import type { OnChain } from '../parts/with-chain.tsx'

/** Most that are shown as buttons; any other can be typed. */
const MOST_SHOWN = 12

interface Props {
  onChain: OnChain
  onChoose: (merchantId: number) => void
}

/** An identity that the wallet has, or a new one. */
export function IdentityStep({ onChain, onChoose }: Props) {
  const api = useApi()
  const { connected, deployment } = onChain
  const shops = useQuery(shopsOf(api, connected.address))
  const agents = useQuery(read(api, '/v1/agent', { params: { query: { owner: connected.address } } }))
  if (shops.error || agents.error) return <ErrorNote error={shops.error ?? agents.error} />
  if (!shops.data || !agents.data) return <Skeleton lines={3} />
  const shopIds = shops.data.merchants.map(({ merchant_id }) => merchant_id)
  const others = agents.data.agents
    .map(({ agent_id }) => agent_id)
    .filter((id) => !shopIds.includes(id))
    .reverse()
  return (
    <>
      {shopIds.length > 0 && (
        <Choices
          title="You have a shop already"
          ids={shopIds}
          label={(id) => `Go on with shop ${id}`}
          onChoose={onChoose}
        />
      )}
      {others.length > 0 && (
        <Choices
          title="Identities of your wallet"
          ids={others}
          label={(id) => `Use identity ${id}`}
          onChoose={onChoose}
        />
      )}
      {shopIds.length + others.length > MOST_SHOWN && <OtherIdentity onChoose={onChoose} />}
      <Transaction
        onChain={onChain}
        label={shopIds.length + others.length > 0 ? 'Mint another identity' : 'Mint an identity'}
        kind={shopIds.length + others.length > 0 ? 'plain' : 'main'}
        call={{
          address: deployment.contracts.IdentityRegistry,
          abi: identityRegistryAbi,
          functionName: 'register',
          args: [''],
        }}
        onDone={({ logs }) => onChoose(Number(identityIn(logs)))}
      >
        A new identity belongs to your wallet for good. It is a token of the ERC-8004 registry, and its number
        becomes the number of your shop.
      </Transaction>
    </>
  )
}

const Choices = ({
  title,
  ids,
  label,
  onChoose,
}: {
  title: string
  ids: number[]
  label: (id: number) => string
  onChoose: (id: number) => void
}) => (
  <div>
    <h3>{title}</h3>
    <div className="row shop-choices">
      {ids.slice(0, MOST_SHOWN).map((id, index) => (
        <Button key={id} kind={index === 0 ? 'main' : 'plain'} onClick={() => onChoose(id)}>
          {label(id)}
        </Button>
      ))}
    </div>
  </div>
)

function OtherIdentity({ onChoose }: { onChoose: (id: number) => void }) {
  const [text, setText] = useState('')
  const id = merchantIdOf(text.trim())
  const isWrong = text !== '' && id === undefined
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (id !== undefined) onChoose(id)
      }}
    >
      <Field label="Number of another identity" error={isWrong ? 'A whole number.' : undefined}>
        <FieldControl inputMode="numeric" value={text} onChange={(event) => setText(event.target.value)} />
      </Field>
      <div>
        <Button type="submit">Use it</Button>
      </div>
    </form>
  )
}
