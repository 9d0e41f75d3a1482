import { useSuspenseQuery } from '@tanstack/react-query'
import { formatRank } from '../../../format/text.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { BarChart, LineChart } from '../../../ui/chart.tsx'
import { Empty, Section } from '../../../ui/parts.tsx'
import { history, type ProductKey } from './questions.ts'

/** Rank and sales over the same days. */
export function History({ productKey }: { productKey: ProductKey }) {
  const { api } = rootRoute.useRouteContext()
  const { data } = useSuspenseQuery(history(api, productKey))
  const days = [...data.points.map(({ day }) => day), ...data.sales.map(({ day }) => day)].sort()
  const [from, to] = [days[0], days.at(-1)]
  if (from === undefined || to === undefined || (days.length < 2 && data.sales.length === 0)) {
    return (
      <Section title="Over time">
        <Empty title="Nothing to draw yet">
          <p>Rank and sales appear here after the first opinions and purchases.</p>
        </Empty>
      </Section>
    )
  }
  return (
    <Section title="Over time">
      <div className="charts">
        <div className="card">
          <h3>Product rank</h3>
          <LineChart
            label="Product rank by day"
            format={formatRank}
            points={data.points.map(({ day, product_rank }) => ({ at: day, value: product_rank }))}
            min={0}
            max={1}
            isStep
            from={from}
            to={to}
          />
        </div>
        <div className="card">
          <h3>Sales</h3>
          <BarChart
            label="Sales by day"
            format={(count) => count.toLocaleString('en')}
            bars={data.sales.map(({ day, count }) => ({ at: day, values: [count] }))}
            series={['Sales']}
            from={from}
            to={to}
          />
        </div>
      </div>
    </Section>
  )
}
