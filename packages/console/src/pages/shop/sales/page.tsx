import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useParams, useSearch } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { daysOf, PERIODS } from '../../../format/period.ts'
import { plural } from '../../../format/text.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { RequireSession } from '../../../session/require-session.tsx'
import { BarChart } from '../../../ui/chart.tsx'
import { Choices } from '../../../ui/choices.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { useNow } from '../../../ui/now.tsx'
import { Empty, Facts, PageTitle, Section } from '../../../ui/parts.tsx'
import { PageSkeleton } from '../../../ui/skeleton.tsx'
import { Usdc } from '../../../ui/values.tsx'
import { merchantIdOf } from '../parts/ids.ts'
import { ShopLinks } from '../parts/shop-links.tsx'
import { Payouts } from './payouts.tsx'
import { SalesTable } from './sales-table.tsx'

export function SalesPage() {
  const params = useParams({ from: '/shop/$merchantId/sales' })
  const merchantId = merchantIdOf(params.merchantId) ?? 0
  return (
    <>
      <PageTitle kicker={<Link to="/shop">My shops</Link>} title={`Sales of shop ${merchantId}`}>
        <ShopLinks merchantId={merchantId} current="sales" />
      </PageTitle>
      <RequireSession>{() => <Sales merchantId={merchantId} />}</RequireSession>
    </>
  )
}

const LIMIT = 20

function Sales({ merchantId }: { merchantId: number }) {
  const api = useApi()
  const { days: period, page } = useSearch({ from: '/shop/$merchantId/sales' })
  const now = useNow()
  const { from, to } = daysOf(period, now)
  const path = { id: merchantId }
  const sales = useQuery({
    ...read(api, '/v1/merchant/{id}/sales', {
      params: { path, query: { from: `${from}T00:00:00Z`, page, limit: LIMIT } },
    }),
    placeholderData: keepPreviousData,
  })
  if (sales.error) return <ErrorNote error={sales.error} onRetry={() => sales.refetch()} />
  if (!sales.data) return <PageSkeleton />
  const { days } = sales.data
  const sum = (field: 'count' | 'revenue_usdc' | 'commission_usdc' | 'net_usdc') =>
    days.reduce((total, day) => total + day[field], 0)
  const params = { merchantId: String(merchantId) }
  return (
    <>
      <Choices label="Period">
        {PERIODS.map((days) => (
          <Link
            key={days}
            to="/shop/$merchantId/sales"
            params={params}
            search={{ days, page: 1 }}
            aria-current={days === period ? 'true' : undefined}
          >
            {plural(days, 'day')}
          </Link>
        ))}
      </Choices>
      <Facts
        facts={[
          ['Sales', sum('count').toLocaleString('en')],
          ['Buyers paid', <Usdc key="revenue" amount={sum('revenue_usdc')} />],
          ['Commission and fee', <Usdc key="commission" amount={sum('commission_usdc')} />],
          ['Paid to you', <Usdc key="net" amount={sum('net_usdc')} />],
        ]}
      />
      <div className="chart-frame">
        <BarChart
          label="What buyers paid, by day"
          from={from}
          to={to}
          series={['Paid to you', 'Commission and fee']}
          bars={days.map(({ day, net_usdc, commission_usdc }) => ({
            at: day,
            values: [net_usdc, commission_usdc],
          }))}
          format={(value) => `${formatUsdc(Math.round(value))} USDC`}
        />
      </div>
      <Section title="One by one">
        {sales.data.sales.length === 0 ? (
          <Empty title={page > 1 ? 'There is nothing more' : `No sale in the last ${period} days`}>
            <p>
              Agents buy through reviews. A higher commission makes reviewers look at your product:{' '}
              <Link to="/shop/$merchantId" params={params}>
                see your products
              </Link>
              .
            </p>
          </Empty>
        ) : (
          <SalesTable
            sales={sales.data.sales}
            page={page}
            hasMore={sales.data.has_more}
            to={(next) => ({
              to: '/shop/$merchantId/sales',
              params,
              search: { days: period, page: next },
            })}
          />
        )}
      </Section>
      <Payouts merchantId={merchantId} />
    </>
  )
}
