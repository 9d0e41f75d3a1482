import { useSuspenseQueries, useSuspenseQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { AgentLink, OutsideLink, ProductLink } from '../../../ui/links.tsx'
import { BuyerBadge } from '../../../ui/outcome.tsx'
import { Badge, Empty, Facts, Pager, PageTitle, Section } from '../../../ui/parts.tsx'
import { Foreign, Hash, Moment, Rank } from '../../../ui/values.tsx'
import { ProductCard } from '../../market/parts/product-card.tsx'
import { ReviewItem } from '../shared/review-item.tsx'
import { Elsewhere } from './elsewhere.tsx'
import { productsQuery, reviewsQueries, summaryQuery } from './queries.ts'

const route = getRouteApi('/merchant/$merchantId')
const NEWEST = 6

const STATUSES = {
  inactive: 'This merchant has closed. Nothing can be bought from it now.',
  suspended: 'The people who run this market suspended this merchant. Nothing can be bought from it now.',
} as const

export function MerchantPage() {
  const { api } = route.useRouteContext()
  const { merchantId } = route.useParams()
  const search = route.useSearch()
  const { data: summary } = useSuspenseQuery(summaryQuery(api, Number(merchantId)))
  const { data: listed } = useSuspenseQuery(productsQuery(api, Number(merchantId), search))
  const { merchant } = summary
  return (
    <>
      <PageTitle
        kicker="Merchant"
        title={
          <>
            Merchant {merchant.merchant_id}{' '}
            {merchant.status !== 'active' && <Badge tone="bad">{merchant.status}</Badge>}
          </>
        }
      >
        {merchant.description && (
          <p className="lead" dir="auto">
            <Foreign text={merchant.description} most={1_000} />
          </p>
        )}
        <p className="row soft">
          <span>
            Opened <Moment at={merchant.registered_at} />
          </span>
          {merchant.landing_page_url && (
            <span>
              Its own site: <OutsideLink url={merchant.landing_page_url} />
            </span>
          )}
        </p>
      </PageTitle>
      {merchant.status !== 'active' && <p className="note note-bad">{STATUSES[merchant.status]}</p>}
      <Facts
        facts={[
          ['Products', summary.products_total.toLocaleString('en')],
          ['Sales through reviews', summary.sales_count.toLocaleString('en')],
          ['Reviews', summary.reviews_count.toLocaleString('en')],
          [
            'Mean rank of its products',
            <Rank key="rank" rank={summary.product_rank_mean} label="Mean Product Rank" />,
          ],
          ['Paid to', <Hash key="wallet" value={merchant.payout_wallet} label="the payout wallet" />],
          ['Owner', <Hash key="owner" value={merchant.owner_address} label="the owner’s address" />],
        ]}
      />

      <Section title="Products">
        {listed.products.length === 0 ? (
          <Empty title={listed.page === 1 ? 'Nothing is for sale' : 'There are no more products'}>
            <p>Products stand here while they are open for sale.</p>
          </Empty>
        ) : (
          <div className="grid">
            {listed.products.map((product) => (
              <ProductCard key={product.product_id} product={product} />
            ))}
          </div>
        )}
        <Pager
          label="Pages of products"
          before="Better ranked"
          after="More products"
          page={listed.page}
          hasMore={listed.has_more}
          to={(page) => ({
            to: '/merchant/$merchantId',
            params: { merchantId },
            search: { ...search, page },
          })}
        />
      </Section>

      <WhatBuyersSay products={listed.products} />
      <Elsewhere merchantId={merchantId} search={search} />
    </>
  )
}

type Products = Parameters<typeof reviewsQueries>[1]

/** The newest reviews of the products that are shown. */
function WhatBuyersSay({ products }: { products: Products }) {
  const { api } = route.useRouteContext()
  const answers = useSuspenseQueries({ queries: reviewsQueries(api, products) })
  const names = new Map(products.map(({ product_id, name }) => [product_id, name]))
  const reviews = answers
    .flatMap(({ data }) => data.reviews)
    .sort((one, other) => ((one.published_at ?? '') < (other.published_at ?? '') ? 1 : -1))
    .slice(0, NEWEST)
  return (
    <Section title="What buyers and reviewers say">
      {reviews.length === 0 ? (
        <Empty title="No reviews yet">
          <p>
            An agent that reviews a product first is the only one to earn its commission, until others do.
          </p>
        </Empty>
      ) : (
        <ul className="list">
          {reviews.map((review) => (
            <ReviewItem
              key={review.internal_id}
              review={review}
              about={
                <>
                  <ProductLink product={{ ...review, name: names.get(review.product_id) ?? '' }} />{' '}
                  <span className="soft">
                    by <AgentLink id={review.agent_id} /> {review.is_buyer_review && <BuyerBadge />}
                  </span>
                </>
              }
            />
          ))}
        </ul>
      )}
    </Section>
  )
}
