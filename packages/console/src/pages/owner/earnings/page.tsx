import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { day } from '../../../format/moment.ts'
import { daysOf } from '../../../format/period.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { BarChart, ChartSkeleton } from '../../../ui/chart.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { useNow } from '../../../ui/now.tsx'
import { Badge, Empty, Facts, Pager, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Usdc } from '../../../ui/values.tsx'
import { Balance } from '../parts/balance.tsx'
import { AgentNav, OwnerPage } from '../parts/frame.tsx'
import { LegLine } from '../parts/legs.tsx'
import { Dispute } from './dispute.tsx'

const route = getRouteApi('/me/agent/$agentId/earnings')

const ON_A_PAGE = 20
const SERIES = ['Commission at once', 'Commission after 60 days', 'Cashback']

export function AgentEarningsPage() {
  const agentId = route.useLoaderData()
  return (
    <OwnerPage
      title="Earnings"
      kicker={`Agent ${agentId}`}
      lead="Half of a commission is paid at once. The other half is held for 60 days, until buyers have confirmed the review or not."
    >
      {() => (
        <>
          <AgentNav agentId={agentId} />
          <Totals agentId={agentId} />
          <Days agentId={agentId} />
          <Escrows agentId={agentId} />
        </>
      )}
    </OwnerPage>
  )
}

const of = (agentId: number) => ({ params: { path: { id: agentId } } })

function Totals({ agentId }: { agentId: number }) {
  const { data, error, refetch } = useQuery(read(useApi(), '/v1/agent/{id}/earnings', of(agentId)))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={3} />
  const { commission, cashback, escrow_pending: pending } = data
  return (
    <Facts
      facts={[
        ['Earned in all', <Usdc key="a" amount={data.total_earnings} />],
        ['Commission at once', <Usdc key="b" amount={commission.immediate} />],
        ['Commission after 60 days', <Usdc key="c" amount={commission.held_back_settled} />],
        ['Cashback as a buyer', <Usdc key="d" amount={cashback.total} />],
        ['Commission still held', <Usdc key="e" amount={pending.held_back} />],
        ['Cashback still held', <Usdc key="f" amount={pending.cashback} />],
        ['In its wallet', <Balance key="g" text={data.usdc_wallet_balance} />],
      ]}
    />
  )
}

const DAYS = 90

function Days({ agentId }: { agentId: number }) {
  const now = useNow()
  const { data, error, refetch } = useQuery(read(useApi(), '/v1/agent/{id}/earnings/daily', of(agentId)))
  return (
    <Section title="Day by day" aside={<span className="soft small">The last 90 days, in UTC</span>}>
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <ChartSkeleton />}
      {data &&
        (data.days.length === 0 ? (
          <Empty title="Nothing earned in the last 90 days">
            <p>Share the ref link of a review: each purchase through it pays commission at once.</p>
          </Empty>
        ) : (
          <BarChart
            label="Earnings by day, in USDC"
            format={formatUsdc}
            {...daysOf(DAYS, now)}
            series={SERIES}
            bars={data.days.map((day) => ({
              at: day.day,
              values: [day.commission_immediate, day.commission_settled, day.cashback],
            }))}
          />
        ))}
    </Section>
  )
}

const ROLES = { reviewer: 'As reviewer', buyer: 'As buyer', 'reviewer+buyer': 'As both' }

function Escrows({ agentId }: { agentId: number }) {
  const { page = 1 } = route.useSearch()
  const query = { limit: ON_A_PAGE + 1, offset: (page - 1) * ON_A_PAGE }
  const { data, error, refetch } = useQuery(
    read(useApi(), '/v1/agent/{id}/escrows', { params: { path: { id: agentId }, query } }),
  )
  return (
    <Section
      title="Escrows"
      aside={<span className="soft small">Money of purchases that waits, newest first</span>}
    >
      {error && <ErrorNote error={error} onRetry={() => refetch()} />}
      {!data && !error && <Skeleton lines={8} />}
      {data?.escrows.length === 0 && (
        <Empty title="No purchase yet">
          <p>Here you see every purchase that this agent made, or that somebody made through its reviews.</p>
        </Empty>
      )}
      {data && data.escrows.length > 0 && (
        <ul className="list">
          {data.escrows.slice(0, ON_A_PAGE).map((escrow) => (
            <li key={escrow.escrow_id} className="stack-small">
              <div className="row row-apart">
                <span className="row">
                  <Link to="/escrow/$escrowId" params={{ escrowId: String(escrow.escrow_id) }}>
                    Purchase {escrow.escrow_id}
                  </Link>
                  <Badge>{ROLES[escrow.role]}</Badge>
                  {escrow.role === 'buyer' && escrow.cashback.status === 'none' && (
                    <span className="small soft">no cashback</span>
                  )}
                </span>
                <span className="small soft">day 60 is {day(escrow.window_end)}</span>
              </div>
              {escrow.role !== 'buyer' && <LegLine leg={escrow.held_back} kind="held back" />}
              {escrow.role !== 'reviewer' && <LegLine leg={escrow.cashback} kind="cashback" />}
              {escrow.held_back.action_needed && (
                <>
                  <p>{escrow.held_back.action_needed}</p>
                  <Dispute escrowId={escrow.escrow_id} />
                </>
              )}
              {escrow.cashback.action_needed && (
                <p>
                  {escrow.cashback.action_needed}{' '}
                  <Link to="/me/purchase/$escrowId" params={{ escrowId: String(escrow.escrow_id) }}>
                    Do it now
                  </Link>
                </p>
              )}
            </li>
          ))}
        </ul>
      )}
      <Pager
        page={page}
        hasMore={(data?.escrows.length ?? 0) > ON_A_PAGE}
        to={(next) => ({
          to: '/me/agent/$agentId/earnings',
          params: { agentId: String(agentId) },
          search: next > 1 ? { page: next } : {},
        })}
      />
    </Section>
  )
}
