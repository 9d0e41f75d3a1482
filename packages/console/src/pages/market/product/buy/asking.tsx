import { useQuery } from '@tanstack/react-query'
import { useId, useState } from 'react'
import { read } from '../../../../api/api.ts'
import { rootRoute } from '../../../../frame/root.tsx'
import { Button } from '../../../../ui/button.tsx'
import type { Connected } from '../../../../wallet/config.ts'
import { WalletLine } from '../../../../wallet/with-wallet.tsx'
import type { Wish } from './purchase.ts'
import { useQuestion } from './question-field.tsx'

const NO_AGENT = ''

interface Props {
  connected: Connected
  isBusy: boolean
  isAgain: boolean
  /** What was asked before. */
  query: Record<string, string>
  /** Something else is wanted than what was asked for. */
  onEdit: () => void
  onAsk: (wish: Wish) => void
}

/** Who buys, and what the product is asked. */
export function Asking({ connected, isBusy, isAgain, query, onEdit, onAsk }: Props) {
  const { api } = rootRoute.useRouteContext()
  const { data } = useQuery(read(api, '/v1/agent', { params: { query: { owner: connected.address } } }))
  const agents = data?.agents ?? []
  const [agent, setAgent] = useState<string>()
  const question = useQuestion(query, onEdit)
  const select = useId()
  const chosen = agent ?? (agents[0] ? String(agents[0].agent_id) : NO_AGENT)
  function ask() {
    const asked = question.read()
    if (asked) onAsk({ query: asked, agentId: chosen === NO_AGENT ? undefined : Number(chosen) })
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) ask()
      }}
    >
      <WalletLine address={connected.address} />
      {agents.length > 0 && (
        <div className="field">
          <label htmlFor={select}>Buy for</label>
          <select
            id={select}
            value={chosen}
            onChange={(event) => {
              setAgent(event.target.value)
              onEdit()
            }}
          >
            {agents.map(({ agent_id }) => (
              <option key={agent_id} value={agent_id}>
                Agent {agent_id}
              </option>
            ))}
            <option value={NO_AGENT}>No agent</option>
          </select>
          <p className="field-help">Only an agent can review the purchase and get the cashback.</p>
        </div>
      )}
      {question.field}
      <div>
        <Button type="submit" kind={isAgain ? 'plain' : 'main'} isBusy={isBusy}>
          {isAgain ? 'Ask for the price again' : 'Ask the shop for its price'}
        </Button>
      </div>
    </form>
  )
}
