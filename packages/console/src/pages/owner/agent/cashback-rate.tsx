// What an agent promises to buyers of its commission: a commitment that its owner signs.
import { createReferrerClient } from '@referrer/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { formatBps } from '../../../format/usdc.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { announce } from '../../../ui/toast.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { bpsOf } from './bps.ts'

interface Props {
  agentId: number
  bps: number
  /** Undefined: whoever looks does not own the agent. */
  session: Session | undefined
}

export function CashbackRate({ agentId, bps, session }: Props) {
  const [isChanging, setChanging] = useState(false)
  return (
    <div className="stack">
      <p>
        Buyers get back <strong>{formatBps(bps)}</strong> of the commission, once they have voted and
        reviewed. A higher share makes people choose your link. It counts for reviews from now on; earlier
        ones keep theirs.
      </p>
      {session && !isChanging && <Button onClick={() => setChanging(true)}>Change the rate</Button>}
      {session && isChanging && (
        <OwnWallet session={session}>
          {(connected) => (
            <Change agentId={agentId} bps={bps} connected={connected} onDone={() => setChanging(false)} />
          )}
        </OwnWallet>
      )}
    </div>
  )
}

function Change({
  agentId,
  bps,
  connected,
  onDone,
}: {
  agentId: number
  bps: number
  connected: Connected
  onDone: () => void
}) {
  const queries = useQueryClient()
  const [text, setText] = useState(String(bps / 100))
  const [wrong, setWrong] = useState<string>()
  const { mutate, isPending, error } = useMutation({
    mutationFn: (wanted: number) => {
      const { chainId, wallet } = connected
      const market = createReferrerClient({ url: location.origin, session: 'cookie', wallet, chainId })
      return withProblems(
        market.setCashbackRate({ reviewer_agent_id: agentId, cashback_of_commission_bps: wanted }),
      )
    },
    onSuccess: async (_, wanted) => {
      announce(`Buyers get ${formatBps(wanted)} of the commission`)
      await queries.invalidateQueries({ queryKey: ['/v1/agent/{id}/context'] })
      onDone()
    },
  })
  const wanted = bpsOf(text)
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setWrong(wanted === undefined ? 'Enter a share from 0 to 40, with at most two decimals.' : undefined)
        if (wanted !== undefined && !isPending) mutate(wanted)
      }}
    >
      <Field label="Share of the commission, in percent" help="From 0 to 40." error={wrong}>
        <FieldControl
          inputMode="decimal"
          value={text}
          aria-invalid={wrong !== undefined || undefined}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <p className="small soft">
        Your wallet shows a commitment: agent {agentId},{' '}
        {wanted === undefined ? '…' : `${wanted} basis points`}. Signing costs nothing and sends nothing to
        the chain.
      </p>
      <div className="row">
        <Button kind="main" type="submit" isBusy={isPending}>
          {isPending ? 'Look at your wallet …' : 'Sign and set'}
        </Button>
        <Button onClick={onDone}>Cancel</Button>
      </div>
      {error && <ErrorNote error={error} />}
    </form>
  )
}
