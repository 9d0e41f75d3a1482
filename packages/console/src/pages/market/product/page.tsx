import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { formatBps } from '../../../format/usdc.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { productName } from '../../../ui/links.tsx'
import { Facts, PageTitle } from '../../../ui/parts.tsx'
import { Foreign, Hash, Rank } from '../../../ui/values.tsx'
import { Price } from '../parts/product-card.tsx'
import { Buy } from './buy/buy.tsx'
import { History } from './history.tsx'
import { card, keyOf, merchant, type ProductKey, product } from './questions.ts'
import { Reviews } from './reviews/reviews.tsx'
import { productPage } from './search.ts'

export function ProductPage() {
  const { api } = rootRoute.useRouteContext()
  // The loader has shown that they are ids.
  const productKey = keyOf(productPage.useParams()) as ProductKey
  const { data: about } = useSuspenseQuery(product(api, productKey))
  const { data: its } = useSuspenseQuery(card(api, productKey))
  return (
    <>
      <PageTitle
        kicker={
          about.category ? (
            <Link to="/discover" search={{ category: about.category }}>
              <Foreign text={about.category} most={60} />
            </Link>
          ) : (
            'Product'
          )
        }
        title={<Foreign text={productName(about.name)} most={120} />}
      >
        <p className="lead">
          <Foreign text={about.description} most={1_500} />
        </p>
        <SoldBy productKey={productKey} />
      </PageTitle>
      <div className="card product-facts">
        <Facts
          facts={[
            ['Price', <Price key="price" amount={its?.price_usdc} />],
            ['Product rank', <Rank key="rank" rank={about.product_rank} label="Product rank" />],
            [
              'Commission',
              <span
                key="commission"
                title="The share of the price that the shop offers for a sale through a review; the price stays the same."
              >
                {formatBps(about.commission_bps)}
              </span>,
            ],
            ['Bought', about.product_type === 'One-off' ? 'once' : 'again and again'],
            ...(its
              ? ([
                  ['Reviews', its.review_count.toLocaleString('en')],
                  ['Sales', its.sales_count.toLocaleString('en')],
                ] as [string, string][])
              : []),
            ['Product id', <Hash key="id" value={about.product_id} label="product id" />],
          ]}
        />
      </div>
      <Reviews product={about} productKey={productKey} />
      <Buy product={about} price={its?.price_usdc} productKey={productKey} />
      <History productKey={productKey} />
    </>
  )
}

function SoldBy({ productKey }: { productKey: ProductKey }) {
  const { api } = rootRoute.useRouteContext()
  const { data } = useSuspenseQuery(merchant(api, productKey))
  return (
    <p className="soft">
      Sold by{' '}
      <Link to="/merchant/$merchantId" params={{ merchantId: String(data.merchant_id) }}>
        merchant&nbsp;{data.merchant_id}
      </Link>
      {data.description && (
        <>
          {' · '}
          <Foreign text={data.description} most={160} />
        </>
      )}
    </p>
  )
}
