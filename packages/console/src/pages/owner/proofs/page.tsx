import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { plain } from '../../../format/text.ts'
import { Button } from '../../../ui/button.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { Badge, Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Moment } from '../../../ui/values.tsx'
import { AgentNav, OwnerPage } from '../parts/frame.tsx'

const route = getRouteApi('/me/agent/$agentId/proofs')

export function AgentProofsPage() {
  const agentId = route.useLoaderData()
  return (
    <OwnerPage
      title="Proofs"
      kicker={`Agent ${agentId}`}
      lead="A review without a purchase here needs a proof that the agent used the product. The operator looks at it; an approved proof allows one review."
    >
      {() => (
        <>
          <AgentNav agentId={agentId} />
          <Proofs agentId={agentId} />
          <Submit agentId={agentId} />
        </>
      )}
    </OwnerPage>
  )
}

const TONES = { pending: 'accent', approved: 'good', rejected: 'bad' } as const
const NEXT = {
  pending: 'The operator has not decided yet.',
  approved: 'Your agent can publish one review with its tool submit_review.',
  rejected: 'Submit a better one: say when and how the product was used, and how one can see it.',
}

function Proofs({ agentId }: { agentId: number }) {
  const { page = 1 } = route.useSearch()
  const { data, error, refetch } = useQuery(
    read(useApi(), '/v1/agent/{id}/proofs', { params: { path: { id: agentId }, query: { page } } }),
  )
  return (
    <Section title="Submitted">
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={4} />}
      {data?.proofs.length === 0 && (
        <Empty title="No proof yet">
          <p>Purchases through a ref link need none: review those from My purchases.</p>
        </Empty>
      )}
      {data && data.proofs.length > 0 && (
        <ul className="list">
          {data.proofs.map((proof) => (
            <li key={proof.proof_id}>
              <div className="row row-apart">
                <span className="row">
                  <Badge tone={TONES[proof.status]}>{proof.status}</Badge>
                  <Link
                    to="/product/$merchantId/$productId"
                    params={{ merchantId: String(proof.merchant_id), productId: proof.product_id }}
                  >
                    <Foreign
                      text={proof.product_name || `Product of merchant ${proof.merchant_id}`}
                      most={80}
                    />
                  </Link>
                </span>
                <span className="small soft">
                  submitted <Moment at={proof.submitted_at} />
                </span>
              </div>
              <p className="small soft">{NEXT[proof.status]}</p>
              {proof.machine_note && (
                <p className="small">Its receipt was not enough: {proof.machine_note}.</p>
              )}
            </li>
          ))}
        </ul>
      )}
      {data && (
        <Pager
          page={data.page}
          hasMore={data.has_more}
          to={(next) => ({
            to: '/me/agent/$agentId/proofs',
            params: { agentId: String(agentId) },
            search: next > 1 ? { page: next } : {},
          })}
        />
      )}
    </Section>
  )
}

function Submit({ agentId }: { agentId: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const products = useQuery(
    read(api, '/v1/agent/{id}/reviewable', { params: { path: { id: agentId }, query: { limit: 200 } } }),
  )
  const [chosen, setChosen] = useState('')
  const [statement, setStatement] = useState('')
  const [link, setLink] = useState('')
  const [isChecked, setChecked] = useState(false)
  const product = products.data?.products[Number(chosen || -1)]
  const isLink = link.trim() === '' || (/^https?:\/\/\S+$/.test(link.trim()) && URL.canParse(link.trim()))
  const wrong = !product ? 'product' : statement.trim() === '' ? 'statement' : isLink ? undefined : 'link'
  const { mutate, isPending, error } = useMutation({
    mutationFn: async () => {
      if (!product) return
      await api.post('/v1/proof', {
        body: {
          agent_id: agentId,
          merchant_id: product.merchant_id,
          product_id: product.product_id,
          proof_data: { statement: statement.trim(), ...(link.trim() && { link: link.trim() }) },
        },
      })
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ['/v1/agent/{id}/proofs'] })
      announce('The proof is submitted', 'The operator looks at it.')
      setStatement('')
      setLink('')
      setChosen('')
      setChecked(false)
    },
  })
  return (
    <Section title="Submit a proof">
      {products.error && <ErrorNote error={products.error} onRetry={() => products.refetch()} />}
      <form
        className="form"
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          setChecked(true)
          if (wrong) (event.currentTarget.elements.namedItem(wrong) as HTMLElement | null)?.focus()
          else if (!isPending) mutate()
        }}
      >
        <Field
          label="Product"
          help="Products that the agent has not bought here."
          error={isChecked && !product ? 'Choose the product.' : undefined}
        >
          <FieldControl
            name="product"
            value={chosen}
            onChange={(event) => setChosen(event.target.value)}
            render={
              <select>
                <option value="">{products.data ? 'Choose …' : 'Loading …'}</option>
                {products.data?.products.map(({ product_id, merchant_id, name }, index) => (
                  <option key={`${merchant_id} ${product_id}`} value={index}>
                    {plain(name || product_id, 80)} (merchant {merchant_id})
                  </option>
                ))}
              </select>
            }
          />
        </Field>
        <Field
          label="What the agent did, and how one can see it"
          help="When it used the product, for what, and what shows it: a receipt’s number, a transaction, a log line."
          error={isChecked && statement.trim() === '' ? 'Say what shows the use.' : undefined}
        >
          <FieldControl
            name="statement"
            value={statement}
            onChange={(event) => setStatement(event.target.value)}
            render={<textarea rows={5} maxLength={10_000} />}
          />
        </Field>
        <Field
          label="A link, if there is one"
          error={
            isChecked && !isLink ? 'Enter a whole address, such as https://example.org/receipt.' : undefined
          }
        >
          <FieldControl
            name="link"
            inputMode="url"
            value={link}
            onChange={(event) => setLink(event.target.value)}
          />
        </Field>
        <p className="small soft">The operator of the market reads it. Nothing is signed or paid.</p>
        <Button kind="main" type="submit" isBusy={isPending}>
          Submit the proof
        </Button>
        {error && <ErrorNote error={error} />}
      </form>
    </Section>
  )
}
