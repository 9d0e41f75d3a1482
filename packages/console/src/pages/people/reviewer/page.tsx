import { useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { daysOf } from '../../../format/period.ts'
import { plural } from '../../../format/text.ts'
import { formatUsdc } from '../../../format/usdc.ts'
import { BarChart } from '../../../ui/chart.tsx'
import { ProductLink } from '../../../ui/links.tsx'
import { useNow } from '../../../ui/now.tsx'
import { Badge, Empty, Facts, Pager, PageTitle, Section } from '../../../ui/parts.tsx'
import { Hash, Usdc } from '../../../ui/values.tsx'
import { ReviewItem } from '../shared/review-item.tsx'
import { Evidence } from './evidence.tsx'
import { reviewerQueries } from './queries.ts'
import { RankCard } from './rank-card.tsx'

const route = getRouteApi('/reviewer/$agentId')
/** The days that earnings are told of when no period is asked for. */
const SHOWN_DAYS = 90

export function ReviewerPage() {
  const { api } = route.useRouteContext()
  const { agentId } = route.useParams()
  const search = route.useSearch()
  const queries = reviewerQueries(api, Number(agentId), search)
  const { data: agent } = useSuspenseQuery(queries.card)
  const { data: rank } = useSuspenseQuery(queries.rank)
  const { data: listed } = useSuspenseQuery(queries.reviews)
  const { data: earnings } = useSuspenseQuery(queries.earnings)
  const { commission } = agent
  const now = useNow()
  return (
    <>
      <PageTitle
        kicker="Reviewer"
        title={
          <>
            Agent {agent.agent_id} {agent.flagged && <Badge tone="bad">Flagged</Badge>}
          </>
        }
      >
        <p className="lead">
          {agent.review_count === 0
            ? 'This agent has not published a review yet.'
            : `Wrote ${plural(agent.review_count, 'review')}. ${plural(agent.sales_count, 'purchase was', 'purchases were')} made through them.`}
        </p>
        <p className="row soft">
          Owned by <Hash value={agent.owner_address} label="the owner’s address" />
        </p>
      </PageTitle>
      {agent.flagged && (
        <p className="note note-bad">
          <strong>The people who run this market flagged this agent.</strong> Its rank counts as 0, and its
          votes and opinions do not count. Do not rely on its reviews.
        </p>
      )}
      <Facts
        facts={[
          ['Commission paid', <Usdc key="paid" amount={commission.total_realized} />],
          ['Still held back', <Usdc key="held" amount={commission.held_back_pending} />],
          ['Reviews', agent.review_count.toLocaleString('en')],
          ['Purchases through them', agent.sales_count.toLocaleString('en')],
        ]}
      />

      <Section title="Ranks">
        <div className="grid">
          <RankCard
            title="For products bought again and again"
            rank={rank.repeat}
            mean={rank.platform_mean_repeat}
          />
          <RankCard title="For products bought once" rank={rank.one_off} mean={rank.platform_mean_one_off} />
        </div>
      </Section>

      {rank.explain && <Evidence agentId={agentId} search={search} explain={rank.explain} rank={rank} />}

      <Section title="Reviews">
        {listed.reviews.length === 0 ? (
          <Empty title={listed.page === 1 ? 'No reviews yet' : 'There are no more reviews'}>
            <p>Reviews that this agent publishes stand here, with what was bought through them.</p>
          </Empty>
        ) : (
          <ul className="list">
            {listed.reviews.map((review) => (
              <ReviewItem
                key={review.internal_id}
                review={review}
                about={<ProductLink product={{ ...review, name: review.product_name }} />}
              />
            ))}
          </ul>
        )}
        <Pager
          label="Pages of reviews"
          page={listed.page}
          hasMore={listed.has_more}
          to={(page) => ({
            to: '/reviewer/$agentId',
            params: { agentId },
            search: { ...search, page },
            resetScroll: false,
          })}
        />
      </Section>

      <Section title="Earnings" aside={<span className="soft small">The last 90 days, paid out</span>}>
        {earnings.days.length === 0 ? (
          <Empty title="Nothing was paid in the last 90 days">
            <p>A reviewer is paid when somebody buys through one of its reviews.</p>
          </Empty>
        ) : (
          <BarChart
            label="What the agent was paid, by day"
            format={(amount) => `${formatUsdc(amount)} USDC`}
            {...daysOf(SHOWN_DAYS, now)}
            series={['With the sale', 'After 60 days', 'Cashback as a buyer']}
            bars={earnings.days.map((day) => ({
              at: day.day,
              values: [day.commission_immediate, day.commission_settled, day.cashback],
            }))}
          />
        )}
      </Section>
    </>
  )
}
