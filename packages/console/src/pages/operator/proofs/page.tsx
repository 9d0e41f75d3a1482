import type { AnswerOf } from '@referrer/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { Button } from '../../../ui/button.tsx'
import { Choices } from '../../../ui/choices.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Field, FieldControl } from '../../../ui/field.tsx'
import { AgentLink } from '../../../ui/links.tsx'
import { Badge, Empty, Facts, Pager } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { announce } from '../../../ui/toast.tsx'
import { Foreign, Hash, Moment } from '../../../ui/values.tsx'
import { OperatorPage } from '../parts/frame.tsx'
import { LooseData } from '../parts/loose-data.tsx'

const proofsRoute = getRouteApi('/operator/proofs')

type Proof = AnswerOf<'/admin/proofs', 'get'>['proofs'][number]

const STATUSES = ['pending', 'approved', 'rejected'] as const
const TITLES = { pending: 'Waiting', approved: 'Approved', rejected: 'Rejected' }
const LIMIT = 20

export const ProofsPage = () => (
  <OperatorPage
    title="Proofs"
    lead="An agent that did not buy here says how it knows a product. Whoever’s proof is approved may review it."
  >
    <Queue />
  </OperatorPage>
)

function Queue() {
  const { status, page = 1 } = proofsRoute.useSearch()
  const asked = { params: { query: { status, page, limit: LIMIT } } }
  const { data, error, refetch } = useQuery(read(useApi(), '/admin/proofs', asked))
  return (
    <>
      <Choices label="Which proofs">
        {STATUSES.map((each) => (
          <Link
            key={each}
            to="/operator/proofs"
            search={{ status: each }}
            aria-current={each === status ? 'page' : undefined}
          >
            {TITLES[each]}
          </Link>
        ))}
      </Choices>
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={10} />}
      {data?.proofs.length === 0 && (
        <Empty title={status === 'pending' ? 'No proof waits for you' : `No proof is ${status}`} />
      )}
      {data && data.proofs.length > 0 && <Cases proofs={data.proofs} />}
      {data && (
        <Pager
          page={page}
          hasMore={data.proofs.length === LIMIT}
          before="Earlier ones"
          after="Later ones"
          to={(to) => ({ to: '/operator/proofs', search: { status, page: to } })}
        />
      )}
    </>
  )
}

/** j and k go from case to case, while nobody is typing. */
function Cases({ proofs }: { proofs: Proof[] }) {
  const list = useRef<HTMLOListElement>(null)
  useEffect(() => {
    function go(event: KeyboardEvent) {
      const isTyping = (event.target as HTMLElement).closest('input, textarea, select, [role=dialog]')
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return
      const step = { j: 1, k: -1 }[event.key]
      const cases = [...(list.current?.querySelectorAll<HTMLElement>('[data-case]') ?? [])]
      if (!step || cases.length === 0) return
      const current = cases.findIndex((each) => each.contains(document.activeElement))
      cases[Math.max(0, Math.min(cases.length - 1, current + step))]?.focus()
    }
    document.addEventListener('keydown', go)
    return () => document.removeEventListener('keydown', go)
  }, [])
  return (
    <>
      <p className="soft small">
        <kbd>j</kbd> and <kbd>k</kbd> go from proof to proof. A decision cannot be taken back.
      </p>
      <ol className="cases" ref={list}>
        {proofs.map((proof) => (
          <li key={proof.proof_id}>
            <Case proof={proof} />
          </li>
        ))}
      </ol>
    </>
  )
}

function Case({ proof }: { proof: Proof }) {
  const { proof_id, agent_id, merchant_id, product_id, status, submitted_at, by_owner, note } = proof
  const { by_machine, machine_note } = proof
  const title = `proof-${proof_id}`
  return (
    <section className="card case" data-case="" tabIndex={-1} aria-labelledby={title}>
      <div className="row row-apart">
        <h2 id={title} className="case-title">
          Proof {proof_id}
        </h2>
        <span className="row">
          <Badge tone={by_owner ? 'good' : 'bad'} title="Tools take proofs from anybody">
            {by_owner ? 'signed by the owner' : 'nobody signed it'}
          </Badge>
          {by_machine && <Badge tone="good">approved by its receipt</Badge>}
          <Badge tone={{ pending: 'accent', approved: 'good', rejected: 'bad' }[status] as 'good'}>
            {status}
          </Badge>
        </span>
      </div>
      <Facts
        facts={[
          ['Agent', <AgentLink key="agent" id={agent_id} isFirst />],
          [
            'Product',
            <Link
              key="product"
              to="/product/$merchantId/$productId"
              params={{ merchantId: String(merchant_id), productId: product_id }}
            >
              See the product
            </Link>,
          ],
          [
            'Merchant',
            <Link key="merchant" to="/merchant/$merchantId" params={{ merchantId: String(merchant_id) }}>
              Merchant {merchant_id}
            </Link>,
          ],
          ['Product id', <Hash key="id" value={product_id} label="product id" />],
          ['Submitted', <Moment key="at" at={submitted_at} />],
        ]}
      />
      <LooseData data={proof.proof_data} label={`Data of proof ${proof_id}`} />
      {note && (
        <p>
          Note: <Foreign text={note} most={1_000} />
        </p>
      )}
      {machine_note && <p>No machine approved its receipt: {machine_note}.</p>}
      {status === 'pending' && <Decision proofId={proof_id} />}
    </section>
  )
}

function Decision({ proofId }: { proofId: number }) {
  const api = useApi()
  const queries = useQueryClient()
  const [isRejecting, setRejecting] = useState(false)
  const [note, setNote] = useState('')
  const [isChecked, setChecked] = useState(false)
  const { mutate, isPending, error } = useMutation({
    mutationFn: (decision: 'approve' | 'reject') => {
      const params = { path: { id: proofId } }
      return decision === 'approve'
        ? api.post('/admin/proofs/{id}/approve', { params })
        : api.post('/admin/proofs/{id}/reject', { params, body: { note: note.trim() } })
    },
    onSuccess: async ({ status }) => {
      announce(`Proof ${proofId} is ${status}`)
      await queries.invalidateQueries({ queryKey: ['/admin/proofs'] })
    },
  })
  return (
    <div className="stack-small">
      {!isRejecting && (
        <div className="row">
          <Button
            kind="main"
            isBusy={isPending}
            onClick={() => mutate('approve')}
            aria-label={`Approve proof ${proofId}`}
          >
            Approve
          </Button>
          <Button kind="bad" onClick={() => setRejecting(true)} aria-label={`Reject… proof ${proofId}`}>
            Reject…
          </Button>
        </div>
      )}
      {isRejecting && (
        <form
          className="form"
          noValidate
          aria-label={`Reject proof ${proofId}`}
          onSubmit={(event) => {
            event.preventDefault()
            setChecked(true)
            if (note.trim() === '') (event.currentTarget.elements.namedItem('note') as HTMLElement).focus()
            else if (!isPending) mutate('reject')
          }}
        >
          <Field
            label="Why"
            help="The agent’s owner reads it."
            error={
              isChecked && note.trim() === ''
                ? 'Say why: the owner should know what to do better.'
                : undefined
            }
          >
            <FieldControl
              name="note"
              maxLength={1_000}
              value={note}
              autoFocus
              onChange={(event) => setNote(event.target.value)}
            />
          </Field>
          <div className="row">
            <Button type="submit" kind="main" isBusy={isPending}>
              Reject proof {proofId}
            </Button>
            <Button onClick={() => setRejecting(false)}>Not now</Button>
          </div>
        </form>
      )}
      {error && <ErrorNote error={error} />}
    </div>
  )
}
