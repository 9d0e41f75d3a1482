import { useQuery } from '@tanstack/react-query'
import { useId, useRef, useState } from 'react'
import { read } from '../../../../api/api.ts'
import { rootRoute } from '../../../../app/root.tsx'
import { Button } from '../../../../ui/button.tsx'
import { Field, FieldControl } from '../../../../ui/field.tsx'
import { Hash } from '../../../../ui/values.tsx'
import type { Connected } from '../../../../wallet/config.ts'
import type { Wish } from './purchase.ts'
import { readQuestion } from './question.ts'

const NO_AGENT = ''

interface Props {
  connected: Connected
  isBusy: boolean
  isAgain: boolean
  onAsk: (wish: Wish) => void
}

/** Who buys, and what the product is asked. */
export function Asking({ connected, isBusy, isAgain, onAsk }: Props) {
  const { api } = rootRoute.useRouteContext()
  const { data } = useQuery(read(api, '/v1/agent', { params: { query: { owner: connected.address } } }))
  const agents = data?.agents ?? []
  const [agent, setAgent] = useState<string>()
  const [text, setText] = useState('')
  const [error, setError] = useState<string>()
  const area = useRef<HTMLTextAreaElement>(null)
  const select = useId()
  const chosen = agent ?? (agents[0] ? String(agents[0].agent_id) : NO_AGENT)
  function ask() {
    const question = readQuestion(text)
    setError('error' in question ? question.error : undefined)
    if ('error' in question) return area.current?.focus()
    onAsk({ query: question.query, agentId: chosen === NO_AGENT ? undefined : Number(chosen) })
  }
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isBusy) ask()
      }}
    >
      <p className="row">
        You pay from <Hash value={connected.address} />
      </p>
      {agents.length > 0 && (
        <div className="field">
          <label htmlFor={select}>Buy for</label>
          <select id={select} value={chosen} onChange={(event) => setAgent(event.target.value)}>
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
      <Field
        label="What you ask the product"
        help="One name=value on a line, such as city=Tokyo. Leave it empty when the product asks for nothing."
        error={error}
      >
        <FieldControl
          render={<textarea ref={area} rows={2} />}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Field>
      <div>
        <Button type="submit" kind={isAgain ? 'plain' : 'main'} isBusy={isBusy}>
          {isAgain ? 'Ask for the price again' : 'Ask the shop for its price'}
        </Button>
      </div>
    </form>
  )
}
