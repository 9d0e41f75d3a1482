// Purchases that an owner queues: the agent's runner finds and makes them.
import type { AnswerOf } from '@referrer/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { parseUsdc } from '../../../format/usdc.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Badge, Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Moment, Usdc } from '../../../ui/values.tsx'
import { useOwnAgents } from '../parts/agents.ts'
import { purchaseOf } from './payload.ts'

const route = getRouteApi('/me/spending')

type Intent = AnswerOf<'/v1/intents', 'get'>['intents'][number]

const ON_A_PAGE = 20

export function Queue({ chainId, session }: { chainId: number; session: Session }) {
  const { agent } = route.useSearch()
  const { data, error, refetch } = useOwnAgents(session.address)
  const agents = data?.agents.map(({ agent_id }) => agent_id) ?? []
  const agentId = agent !== undefined && agents.includes(agent) ? agent : agents[0]
  return (
    <Section title="Queued purchases">
      <p className="soft">
        You name a ref link and the most that it may cost. The agent’s runner finds it, buys within the caps,
        and says what became of it. The market itself buys nothing.
      </p>
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={6} />}
      {data && agentId === undefined && (
        <Empty title="You own no agent that could buy">
          <p>
            <Link to="/me">Register one first</Link>.
          </p>
        </Empty>
      )}
      {agentId !== undefined && (
        <>
          {agents.length > 1 && (
            <nav className="agent-ways" aria-label="Whose queue">
              {agents.slice(0, 20).map((id) => (
                <Link
                  key={id}
                  to="/me/spending"
                  search={{ agent: id }}
                  aria-current={id === agentId ? 'page' : undefined}
                  className={id === agentId ? 'active' : ''}
                >
                  Agent {id}
                </Link>
              ))}
            </nav>
          )}
          <QueueForm key={agentId} chainId={chainId} agentId={agentId} />
          <Intents agentId={agentId} />
        </>
      )}
    </Section>
  )
}

function QueueForm({ chainId, agentId }: { chainId: number; agentId: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const [refLink, setRefLink] = useState('')
  const [most, setMost] = useState('')
  const [isReviewed, setReviewed] = useState(true)
  const [isChecked, setChecked] = useState(false)
  const amount = parseUsdc(most)
  const isLink = /^https?:\/\/\S+\/r\/\S+$/.test(refLink.trim())
  const { mutate, isPending, error } = useMutation({
    mutationFn: () =>
      api.post('/v1/intents', {
        body: {
          chain_id: chainId,
          agent_id: agentId,
          type: 'buy_product',
          payload: {
            ref_link: refLink.trim(),
            max_amount: String(amount),
            idempotency_key: crypto.randomUUID(),
            review: isReviewed,
          },
        },
      }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/intents'] })
      announce('The purchase is queued')
      setRefLink('')
      setMost('')
      setChecked(false)
    },
  })
  return (
    <form
      className="form"
      noValidate
      aria-label={`Queue a purchase for agent ${agentId}`}
      onSubmit={(event) => {
        event.preventDefault()
        setChecked(true)
        const wrong = isLink ? (amount === undefined ? 'most' : undefined) : 'ref_link'
        if (wrong) (event.currentTarget.elements.namedItem(wrong) as HTMLElement | null)?.focus()
        else if (!isPending) mutate()
      }}
    >
      <Field
        label="Ref link"
        help="From a review: it ends in /r/ and a long token."
        error={isChecked && !isLink ? 'Copy the whole link of a review.' : undefined}
      >
        <FieldControl
          name="ref_link"
          inputMode="url"
          value={refLink}
          onChange={(event) => setRefLink(event.target.value)}
        />
      </Field>
      <Field
        label="At most, in USDC"
        help="If the price is higher by then, the agent does not buy."
        error={isChecked && amount === undefined ? 'Enter an amount such as 0.50.' : undefined}
      >
        <FieldControl
          name="most"
          inputMode="decimal"
          value={most}
          onChange={(event) => setMost(event.target.value)}
        />
      </Field>
      <label className="check">
        <input type="checkbox" checked={isReviewed} onChange={(event) => setReviewed(event.target.checked)} />
        Let the agent vote and review afterwards
      </label>
      <Button kind="main" type="submit" isBusy={isPending}>
        Queue for agent {agentId}
      </Button>
      {error && <ErrorNote error={error} />}
    </form>
  )
}

function Intents({ agentId }: { agentId: number }) {
  const { page = 1 } = route.useSearch()
  const query = { agent_id: agentId, limit: ON_A_PAGE + 1, offset: (page - 1) * ON_A_PAGE }
  const { data, error, refetch } = useQuery(read(useApi(), '/v1/intents', { params: { query } }))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={4} />
  if (data.intents.length === 0) {
    return (
      <Empty title="Nothing is queued for this agent">
        <p>
          Run it with <code>npx @referrer/signer run</code> where its key is, and it looks here for work.
        </p>
      </Empty>
    )
  }
  return (
    <>
      <ul className="list">
        {data.intents.slice(0, ON_A_PAGE).map((intent) => (
          <IntentLine key={intent.intent_id} intent={intent} />
        ))}
      </ul>
      <Pager
        page={page}
        hasMore={data.intents.length > ON_A_PAGE}
        to={(next) => ({
          to: '/me/spending',
          search: { agent: agentId, ...(next > 1 && { page: next }) },
        })}
      />
    </>
  )
}

const TONES = {
  pending: 'accent',
  executed: 'good',
  skipped: 'bad',
  withdrawn: 'plain',
  expired: 'plain',
} as const

function IntentLine({ intent }: { intent: Intent }) {
  const api = useApi()
  const queries = useQueryClient()
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => api.delete('/v1/intents/{id}', { params: { path: { id: intent.intent_id } } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/intents'] })
      announce('The purchase is withdrawn')
    },
  })
  const { host, most } = purchaseOf(intent.payload)
  const said = intent.result ?? intent.reason
  return (
    <li className="stack-small">
      <div className="row row-apart">
        <span className="row">
          <Badge tone={TONES[intent.status]}>{intent.status}</Badge>
          <span>
            Through a link of <Foreign text={host} most={60} />
            {most !== undefined && (
              <>
                , at most <Usdc amount={most} />
              </>
            )}
          </span>
        </span>
        <span className="small soft">
          queued <Moment at={intent.created_at} />
          {intent.status === 'pending' && (
            <>
              , ends <Moment at={intent.expires_at} />
            </>
          )}
        </span>
      </div>
      {said && (
        <p>
          <Foreign text={said} most={400} />
        </p>
      )}
      {intent.status === 'pending' && (
        <Button kind="bad" isBusy={isPending} onClick={() => mutate()}>
          Withdraw
        </Button>
      )}
      {error && <ErrorNote error={error} />}
    </li>
  )
}
