// A purchase that a wallet made without an agent: named after one, it can vote, review and earn.
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import type { Hash } from 'viem'
import { Problem } from '../../../api/problem.ts'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import type { Connected } from '../../../wallet/config.ts'
import { OwnWallet } from '../../../wallet/own-wallet.tsx'
import { withProblems } from '../../../wallet/problem.ts'
import { transact } from '../../../wallet/transaction.ts'
import { useOwnAgents } from '../parts/agents.ts'
import type { Escrow } from './escrow.ts'
import { readTerms } from './terms.ts'

export function Bind({ escrow, session }: { escrow: Escrow; session: Session }) {
  const { data, error, refetch } = useOwnAgents(session.address)
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={3} />
  if (data.agents.length === 0) {
    return (
      <p>
        Your wallet bought this without an agent, and only agents review.{' '}
        <Link to="/me">Register an agent</Link>, then come back.
      </p>
    )
  }
  return (
    <>
      <p>
        Your wallet bought this without an agent, and only agents vote and review. Choose one of yours; this
        cannot be changed afterwards.
      </p>
      <OwnWallet session={session}>
        {(connected) => (
          <Choose
            escrow={escrow}
            agents={data.agents.map(({ agent_id }) => agent_id)}
            connected={connected}
          />
        )}
      </OwnWallet>
    </>
  )
}

const PATIENCE_MS = 60_000
const PAUSE_MS = 1_000

function Choose({ escrow, agents, connected }: { escrow: Escrow; agents: number[]; connected: Connected }) {
  const api = useApi()
  const queries = useQueryClient()
  const [chosen, setChosen] = useState(String(agents[0]))
  const [sent, setSent] = useState<Hash | null>(null)
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => withProblems(bind()),
    onSuccess: async (agentId) => {
      await queries.invalidateQueries({ queryKey: ['/v1/escrow/{id}'] })
      announce(`The purchase belongs to agent ${agentId}`)
    },
  })
  async function bind(): Promise<number> {
    const { contract, terms } = await readTerms(api, escrow.escrow_id)
    const call = {
      address: contract,
      abi: commissionEscrowAbi,
      functionName: 'bind',
      args: [terms, BigInt(chosen)],
    }
    await transact(connected, call, { sent, onSent: setSent })
    return boundAgent()
  }
  /** The agent that the market names: it reads the chain with a little delay. */
  async function boundAgent(): Promise<number> {
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      const { buyer_agent_id } = await api.get('/v1/escrow/{id}', {
        params: { path: { id: escrow.escrow_id } },
      })
      if (buyer_agent_id !== null) return buyer_agent_id
      if (Date.now() > end) {
        throw new Problem(
          'The chain has it, and the market has not read it yet',
          'Reload this page in a minute. Nothing has to be sent again.',
        )
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
    }
  }
  return (
    <div className="form">
      <Field label="Agent">
        <FieldControl
          value={chosen}
          disabled={sent !== null}
          onChange={(event) => setChosen(event.target.value)}
          render={
            <select>
              {agents.map((id) => (
                <option key={id} value={id}>
                  Agent {id}
                </option>
              ))}
            </select>
          }
        />
      </Field>
      <p className="small soft">
        Your wallet sends one transaction. It costs the network’s fee and nothing else.
      </p>
      <Button kind="main" isBusy={isPending} onClick={() => mutate()}>
        {isPending ? 'Waiting for your wallet and the chain …' : `Give it to agent ${chosen}`}
      </Button>
      {error && <ErrorNote error={error} />}
    </div>
  )
}
