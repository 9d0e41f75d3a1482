import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { read } from '../../../api/api.ts'
import { useApi } from '../../../api/use-api.ts'
import { RequireSession } from '../../../session/require-session.tsx'
import type { Session } from '../../../session/session.ts'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Facts, PageTitle, Section } from '../../../ui/parts.tsx'
import { PageSkeleton } from '../../../ui/skeleton.tsx'
import { Toasts } from '../../../ui/toast.tsx'
import { Foreign, Rank, Usdc } from '../../../ui/values.tsx'
import { merchantIdOf } from '../parts/ids.ts'
import { ShopLinks } from '../parts/shop-links.tsx'
import { StatusBadge } from '../parts/status-badge.tsx'
import { WithChain } from '../parts/with-chain.tsx'
import { OnSale } from './on-sale.tsx'
import { Payout } from './payout.tsx'
import { Products } from './products.tsx'
import { ProfileForm } from './profile-form.tsx'
import { Signers } from './signers.tsx'

export function ShopPage() {
  const params = useParams({ from: '/shop/$merchantId' })
  const merchantId = merchantIdOf(params.merchantId) ?? 0
  return <RequireSession>{(session) => <Shop merchantId={merchantId} session={session} />}</RequireSession>
}

function Shop({ merchantId, session }: { merchantId: number; session: Session }) {
  const api = useApi()
  const request = { params: { path: { id: merchantId } } }
  const summary = useQuery(read(api, '/v1/merchant/{id}/summary', request))
  const stats = useQuery(read(api, '/v1/merchant/{id}/stats', request))
  const error = summary.error ?? stats.error
  if (error) {
    return (
      <>
        <PageTitle kicker={<Link to="/shop">My shops</Link>} title={`Shop ${merchantId}`} />
        <ErrorNote error={error} />
      </>
    )
  }
  if (!summary.data || !stats.data) return <PageSkeleton />
  const { merchant, reviews_count } = summary.data
  const { conversions, gross_revenue_usdc, products_active, products_total, escrows_held } = stats.data
  return (
    <>
      <PageTitle
        kicker={<Link to="/shop">My shops</Link>}
        title={
          <span className="row">
            Shop {merchantId} <StatusBadge status={merchant.status} />
          </span>
        }
      >
        {merchant.description && (
          <p className="lead">
            <Foreign text={merchant.description} most={400} />
          </p>
        )}
        <ShopLinks merchantId={merchantId} current="shop" />
      </PageTitle>
      <Facts
        facts={[
          ['Sales through reviews', conversions.toLocaleString('en')],
          ['Buyers paid', <Usdc key="paid" amount={gross_revenue_usdc} />],
          ['Products open', `${products_active} of ${products_total}`],
          ['Reviews', reviews_count.toLocaleString('en')],
          ['Shop rank', <Rank key="rank" rank={merchant.merchant_rank} label="Shop rank" />],
          ['Sales still being judged', escrows_held.toLocaleString('en')],
        ]}
      />
      <p className="small soft after-facts">
        A part of each commission is held back for 60 days, until it is known whether the buyer agreed with
        the review. Your own share is paid at once.
      </p>
      <Products merchantId={merchantId} productIds={merchant.product_ids} />
      <Section title="What buyers read about the shop">
        <ProfileForm
          merchantId={merchantId}
          was={{ description: merchant.description ?? '', website: merchant.landing_page_url ?? '' }}
        />
      </Section>
      <Section title="On the chain">
        <WithChain session={session}>
          {(onChain) => (
            <div className="settings">
              <div className="settings-column">
                <Payout onChain={onChain} merchantId={merchantId} />
                <OnSale onChain={onChain} merchantId={merchantId} />
              </div>
              <Signers onChain={onChain} merchantId={merchantId} />
            </div>
          )}
        </WithChain>
      </Section>
      <Toasts />
    </>
  )
}
