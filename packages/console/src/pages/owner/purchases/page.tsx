import type { AnswerOf } from '@referrer/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import type { Session } from '../../../session/session.ts'
import { Button } from '../../../ui/button.tsx'
import { Choices } from '../../../ui/choices.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Empty, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Moment, Usdc } from '../../../ui/values.tsx'
import { useOwnAgents } from '../parts/agents.ts'
import { OwnerPage } from '../parts/frame.tsx'
import { LegState } from '../parts/legs.tsx'

// It brings the wallets.
const Transfer = lazy(() => import('./transfer.tsx').then(({ Transfer }) => ({ default: Transfer })))

const route = getRouteApi('/me/purchases')

type Purchases = AnswerOf<'/v1/wallet/purchases', 'get'>
type Purchase = Purchases['purchases'][number]

export const PurchasesPage = () => (
  <OwnerPage
    title="My purchases"
    lead="What your wallet paid for, and what your agents bought. Vote and review, and the cashback is yours."
  >
    {(session) => <Whose session={session} />}
  </OwnerPage>
)

function Whose({ session }: { session: Session }) {
  const { agent } = route.useSearch()
  const { data } = useOwnAgents(session.address)
  return (
    <div className="stack">
      <Choices label="Whose purchases">
        <Link to="/me/purchases" search={{}} activeOptions={{ exact: true }}>
          My wallet
        </Link>
        {data?.agents.slice(0, 20).map(({ agent_id }) => (
          <Link key={agent_id} to="/me/purchases" search={{ agent: agent_id }}>
            Agent {agent_id}
          </Link>
        ))}
      </Choices>
      {agent === undefined ? <OfWallet /> : <OfAgent agentId={agent} />}
      <WrongTransfer session={session} />
    </div>
  )
}

function WrongTransfer({ session }: { session: Session }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <Section title="A transfer that bought nothing">
      <p className="soft">
        USDC that you sent to the market’s contract by hand pays for a ref link, or can be taken back.
      </p>
      {isOpen ? (
        <Suspense fallback={<Skeleton lines={4} />}>
          <Transfer session={session} />
        </Suspense>
      ) : (
        <Button onClick={() => setOpen(true)}>Look for a transfer</Button>
      )}
    </Section>
  )
}

function OfWallet() {
  const { page = 1 } = route.useSearch()
  return <List {...useQuery(read(useApi(), '/v1/wallet/purchases', { params: { query: { page } } }))} />
}

function OfAgent({ agentId }: { agentId: number }) {
  const { page = 1 } = route.useSearch()
  return (
    <List
      {...useQuery(
        read(useApi(), '/v1/agent/{id}/purchases', { params: { path: { id: agentId }, query: { page } } }),
      )}
    />
  )
}

interface ListProps {
  data: Purchases | undefined
  error: unknown
  refetch: () => unknown
}

function List({ data, error, refetch }: ListProps) {
  const { agent } = route.useSearch()
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={8} />
  if (data.purchases.length === 0) {
    return (
      <Empty title="No purchase yet">
        <p>
          <Link to="/discover">Find something to buy</Link>. A purchase shows here seconds after it is paid.
        </p>
      </Empty>
    )
  }
  return (
    <>
      <ul className="list">
        {data.purchases.map((purchase) => (
          <li key={purchase.escrow_id} className="purchase-line">
            <div>
              <Link to="/me/purchase/$escrowId" params={{ escrowId: String(purchase.escrow_id) }}>
                <Foreign text={purchase.product_name || `Purchase ${purchase.escrow_id}`} most={80} />
              </Link>
              <p className="small soft">
                <Moment at={purchase.happened_at} />
              </p>
            </div>
            <Usdc amount={purchase.price_usdc} />
            <LegState leg={purchase.cashback} kind="cashback" />
            <ToDo purchase={purchase} />
          </li>
        ))}
      </ul>
      <Pager
        page={data.page}
        hasMore={data.has_more}
        to={(next) => ({
          to: '/me/purchases',
          search: { ...(agent !== undefined && { agent }), ...(next > 1 && { page: next }) },
        })}
      />
    </>
  )
}

function ToDo({ purchase: { escrow_id, buyer_agent_id, has_voted, has_review } }: { purchase: Purchase }) {
  if (has_review) {
    return (
      <span className="row">
        <Badge tone="good">Reviewed</Badge>
      </span>
    )
  }
  return (
    <Link to="/me/purchase/$escrowId" params={{ escrowId: String(escrow_id) }}>
      {buyer_agent_id === null ? 'Give it to an agent' : has_voted ? 'Review it' : 'Vote and review'}
    </Link>
  )
}
