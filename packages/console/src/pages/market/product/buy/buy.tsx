import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { Link, useNavigate } from '@tanstack/react-router'
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useState } from 'react'
import { formatBps } from '../../../../format/usdc.ts'
import { rootRoute } from '../../../../frame/root.tsx'
import { Choices } from '../../../../ui/choices.tsx'
import { AgentLink } from '../../../../ui/links.tsx'
import { Empty, Section } from '../../../../ui/parts.tsx'
import { Skeleton } from '../../../../ui/skeleton.tsx'
import { Usdc } from '../../../../ui/values.tsx'
import { readContent } from '../../parts/review-content.ts'
import {
  link,
  type Product,
  type ProductKey,
  type ProductReview,
  reviews,
  reviewToBuyThrough,
} from '../questions.ts'
import { productPage } from '../search.ts'
import { sharesOf } from './shares.ts'
import { WithAgent, WithClient } from './ways.tsx'

// Wallets and payments are more code than all the rest of the page.
const WithWalletHere = lazy(() =>
  import('./wallet.tsx').then(({ WalletPurchase }) => ({ default: WalletPurchase })),
)

const WAYS = { mcp: 'Your agent (MCP)', x402: 'Any x402 client', wallet: 'Your wallet, here' } as const

interface Props {
  product: Product
  price: number | undefined
  productKey: ProductKey
}

/** How to buy, in three ways, through a review of one's choice. */
export function Buy({ product, price, productKey }: Props) {
  const { api, origin } = rootRoute.useRouteContext()
  const { through, review: first, page = 1, way = 'mcp' } = productPage.useSearch()
  const params = productPage.useParams()
  const { data: listed } = useSuspenseQuery(reviews(api, productKey, page))
  const review = reviewToBuyThrough(listed.reviews, { review: first, through })
  const { data: target } = useQuery({
    ...link(api, review?.ref_link ?? ''),
    enabled: review !== undefined,
    retry: false,
  })
  return (
    <div id="buy" className="buy">
      <Section title="How to buy">
        {!review || !target ? (
          <Empty title="It cannot be bought through a review now">
            <p>
              {review
                ? 'The link of this review leads nowhere now. Choose another review, or come back later.'
                : 'Purchases go through a review, and no review of it has a link yet.'}
            </p>
          </Empty>
        ) : (
          <>
            <Through
              review={review}
              listed={listed.reviews}
              product={product}
              price={price}
              cashbackBps={target.cashback_of_commission_bps}
            />
            <Choices label="Ways to buy">
              {(['mcp', 'x402', 'wallet'] as const).map((choice) => (
                <Link
                  key={choice}
                  to="/product/$merchantId/$productId"
                  params={params}
                  search={(before) => ({ ...before, way: choice === 'mcp' ? undefined : choice })}
                  hash="buy"
                  resetScroll={false}
                  activeOptions={{ exact: true }}
                >
                  {WAYS[choice]}
                </Link>
              ))}
            </Choices>
            <div className="card way">
              {way === 'mcp' && <WithAgent origin={origin} refLink={review.ref_link} price={price} />}
              {way === 'x402' && (
                <WithClient refLink={review.ref_link} price={price} chainId={target.chain_id} />
              )}
              {way === 'wallet' && (
                <InBrowser>
                  <WithWalletHere
                    key={target.token}
                    target={target}
                    review={review}
                    commissionBps={product.commission_bps}
                    listedPrice={price}
                  />
                </InBrowser>
              )}
            </div>
          </>
        )}
      </Section>
    </div>
  )
}

/** A wallet is in the browser only: the server says so and leaves the place. */
function InBrowser({ children }: { children: ReactNode }) {
  const [isBrowser, setBrowser] = useState(false)
  useEffect(() => setBrowser(true), [])
  const waiting = (
    <>
      <p className="soft">To pay here, your browser needs JavaScript and a wallet.</p>
      <Skeleton lines={4} />
    </>
  )
  return isBrowser ? <Suspense fallback={waiting}>{children}</Suspense> : waiting
}

interface ThroughProps {
  review: ProductReview
  listed: ProductReview[]
  product: Product
  price: number | undefined
  cashbackBps: number
}

/** Through which review, and what that means for its author and for the buyer. */
function Through({ review, listed, product, price, cashbackBps }: ThroughProps) {
  const params = productPage.useParams()
  const { way, page } = productPage.useSearch()
  const navigate = useNavigate()
  const linked = listed.filter(({ ref_link }) => ref_link)
  const shares =
    price === undefined ? undefined : sharesOf(BigInt(price), product.commission_bps, cashbackBps)
  function choose(form: HTMLFormElement) {
    const through = Number(new FormData(form).get('through'))
    navigate({
      to: '/product/$merchantId/$productId',
      params,
      search: (before) => ({ ...before, through }),
      hash: 'buy',
      resetScroll: false,
      replace: true,
    })
  }
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault()
    choose(event.currentTarget)
  }
  return (
    <form
      className="through"
      action={`/product/${params.merchantId}/${params.productId}`}
      onSubmit={submit}
      onChange={(event) => choose(event.currentTarget)}
    >
      {way && <input type="hidden" name="way" value={way} />}
      {page && <input type="hidden" name="page" value={page} />}
      <div className="field">
        <label htmlFor="through">Buy through the review of</label>
        <div className="row through-row">
          <select id="through" name="through" key={review.internal_id} defaultValue={review.internal_id}>
            {linked.map((one) => (
              <option key={one.internal_id} value={one.internal_id}>
                {optionOf(one)}
              </option>
            ))}
          </select>
          <button type="submit" className="button">
            Use this review
          </button>
        </div>
      </div>
      <p>
        You pay the same price through any of them.{' '}
        {shares ? (
          <>
            <AgentLink id={review.agent_id} isFirst /> earns up to <Usdc amount={shares.reviewer} /> of it
          </>
        ) : (
          <>
            <AgentLink id={review.agent_id} isFirst /> earns a part of the {formatBps(product.commission_bps)}{' '}
            commission
          </>
        )}
        , which the shop pays.{' '}
        {cashbackBps === 0
          ? 'It offers no cashback.'
          : shares && (
              <>
                You get up to <Usdc amount={shares.cashback} /> back once your agent has reviewed the purchase
                and voted.
              </>
            )}
        {cashbackBps > 0 &&
          !shares &&
          `You get up to ${formatBps(cashbackBps)} of the commission back once your agent has reviewed the purchase and voted.`}
      </p>
    </form>
  )
}

function optionOf(review: ProductReview): string {
  const { rating } = readContent(review.content_json)
  return `Agent ${review.agent_id}${rating === null ? '' : `, ${rating} of 5`}${review.is_buyer_review ? ', bought it here' : ''}`
}
