import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { Hex } from 'viem'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { short } from '../../../format/text.ts'
import { formatBps } from '../../../format/usdc.ts'
import { RequireSession } from '../../../session/require-session.tsx'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Badge, Facts, PageTitle, Section } from '../../../ui/parts.tsx'
import { PageSkeleton } from '../../../ui/skeleton.tsx'
import { Toasts } from '../../../ui/toast.tsx'
import { Foreign, Hash, Rank, Usdc } from '../../../ui/values.tsx'
import { Change } from '../parts/change.tsx'
import { CodeSamples } from '../parts/code-samples.tsx'
import { DescribeForm } from '../parts/describe-form.tsx'
import { merchantIdOf, productIdOf } from '../parts/ids.ts'
import { useProduct } from '../parts/market-state.ts'
import { Readiness } from '../parts/readiness.tsx'
import { ShopLinks } from '../parts/shop-links.tsx'
import { valuesOf } from '../parts/values-of.ts'
import { WithChain } from '../parts/with-chain.tsx'
import { ProductOnChain } from './on-chain.tsx'

export function ShopProductPage() {
  const params = useParams({ from: '/shop/$merchantId/product/$productId' })
  const merchantId = merchantIdOf(params.merchantId) ?? 0
  const productId = productIdOf(params.productId) ?? '0x'
  return (
    <RequireSession>
      {(session) => <Product merchantId={merchantId} productId={productId} session={session} />}
    </RequireSession>
  )
}

interface Props {
  merchantId: number
  productId: Hex
  session: Session
}

function Product({ merchantId, productId, session }: Props) {
  const api = useApi()
  const { described: product, card, ...seen } = useProduct(merchantId, productId)
  const payouts = useQuery(read(api, '/v1/merchant/{id}/payouts', { params: { path: { id: merchantId } } }))
  const error = payouts.error ?? seen.error
  const params = { merchantId: String(merchantId), productId }
  if (!error && (payouts.isPending || seen.isLoading)) return <PageSkeleton />
  const sold = payouts.data?.products.find(({ product_id }) => product_id === productId)
  const name = product?.name || sold?.name || ''
  return (
    <>
      <PageTitle
        kicker={
          <Link to="/shop/$merchantId" params={params}>
            Shop {merchantId}
          </Link>
        }
        title={
          <span className="row">
            {name ? <Foreign text={name} most={200} /> : `Product ${short(productId)}`}
            {!error && <Badge tone={product ? 'good' : 'plain'}>{product ? 'open' : 'closed'}</Badge>}
          </span>
        }
      >
        <ShopLinks merchantId={merchantId} productId={product && productId} current="product" />
      </PageTitle>
      {error && <ErrorNote error={error} />}
      <Facts
        facts={[
          ['Sales', (sold?.sales_count ?? 0).toLocaleString('en')],
          ['Buyers paid', <Usdc key="paid" amount={sold?.revenue_usdc ?? 0} />],
          ['Paid to you', <Usdc key="net" amount={sold?.net_usdc ?? 0} />],
          ['Commission and fee', <Usdc key="commission" amount={sold?.commission_usdc ?? 0} />],
          [
            'Price shown',
            card?.price_usdc === undefined ? 'not known yet' : <Usdc key="price" amount={card.price_usdc} />,
          ],
          ['Product rank', <Rank key="rank" rank={product?.product_rank} label="Product rank" />],
          ['Bought', product?.product_type === 'One-off' ? 'once' : product ? 'again and again' : '–'],
          ['Commission rate', product ? formatBps(product.commission_bps) : '–'],
          ['Product id', <Hash key="id" value={productId} label="product id" />],
        ]}
      />
      <div className="columns">
        <Section title="Description">
          {product ? (
            <DescribeForm
              merchantId={merchantId}
              productId={productId}
              was={{
                name: product.name,
                description: product.description,
                category: product.category,
                endpointUrl: product.endpoint_url ?? '',
              }}
            />
          ) : (
            <p className="soft">
              The product is closed. Open it below, then you can change what the market shows.
            </p>
          )}
        </Section>
        {product?.endpoint_url && (
          <Section title="Endpoint">
            <Readiness resource={product.endpoint_url} />
          </Section>
        )}
      </div>
      <Section title="On the chain">
        <WithChain session={session}>
          {(onChain) => (
            <ProductOnChain onChain={onChain} merchantId={merchantId} productId={productId}>
              {(price) => (
                <Change label="Show the code of the endpoint">
                  {() => <CodeSamples values={valuesOf(onChain, { merchantId, productId, name, price })} />}
                </Change>
              )}
            </ProductOnChain>
          )}
        </WithChain>
      </Section>
      <Toasts />
    </>
  )
}
