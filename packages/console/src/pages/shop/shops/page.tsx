import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useApi } from '../../../api/use-api.ts'
import { plural } from '../../../format/text.ts'
import { RequireSession } from '../../../session/require-session.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Empty, PageTitle } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign, Moment } from '../../../ui/values.tsx'
import { shopsOf } from '../parts/market-state.ts'
import { StatusBadge } from '../parts/status-badge.tsx'

export const ShopsPage = () => (
  <>
    <PageTitle title="My shops">
      <p className="lead">
        Sell to software agents. Reviewers bring buyers, and earn a share that you choose.
      </p>
    </PageTitle>
    <RequireSession>{({ address }) => <Shops owner={address} />}</RequireSession>
  </>
)

function Shops({ owner }: { owner: string }) {
  const api = useApi()
  const { data, error, refetch } = useQuery(shopsOf(api, owner))
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={6} />
  if (data.merchants.length === 0) {
    return (
      <Empty title="You have no shop yet">
        <p>Opening one takes some minutes, a wallet with a little ETH, and a server of yours.</p>
        <p>
          <Link to="/shop/open" className="button button-main">
            Open a shop
          </Link>
        </p>
      </Empty>
    )
  }
  return (
    <>
      <div className="grid">
        {data.merchants.map(({ merchant_id, status, description, product_ids, registered_at }) => (
          <article key={merchant_id} className="card card-link">
            <div className="row row-apart">
              <h2 className="card-title">
                <Link to="/shop/$merchantId" params={{ merchantId: String(merchant_id) }}>
                  Shop {merchant_id}
                </Link>
              </h2>
              <StatusBadge status={status} />
            </div>
            <p>
              {description ? (
                <Foreign text={description} most={200} />
              ) : (
                <span className="soft">No description yet</span>
              )}
            </p>
            <p className="soft small">
              {plural(product_ids.length, 'product')} · here since <Moment at={registered_at} />
            </p>
          </article>
        ))}
      </div>
      <p className="after-list">
        <Link to="/shop/open" className="button">
          Open another shop
        </Link>
      </p>
    </>
  )
}
