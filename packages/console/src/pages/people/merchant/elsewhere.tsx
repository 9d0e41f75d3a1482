import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { OutsideLink, ProductLink } from '../../../ui/links.tsx'
import { Badge, Empty, Section } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign } from '../../../ui/values.tsx'
import { elsewhereQuery, type MerchantSearch } from './queries.ts'

const route = getRouteApi('/merchant/$merchantId')
const MOST = 50

/** What the merchant sells by x402 besides; looked up only for who asks. */
export function Elsewhere({ merchantId, search }: { merchantId: string; search: MerchantSearch }) {
  return (
    <Section title="What else it sells by x402">
      {search.elsewhere ? (
        <Found merchantId={merchantId} />
      ) : (
        <p>
          Other offers of this merchant may be in public catalogues.{' '}
          <Link
            to="/merchant/$merchantId"
            params={{ merchantId }}
            search={{ ...search, elsewhere: true }}
            resetScroll={false}
            preload={false}
            rel="nofollow"
          >
            Look there now
          </Link>
          . It takes a few seconds.
        </p>
      )}
    </Section>
  )
}

function Found({ merchantId }: { merchantId: string }) {
  const { api } = route.useRouteContext()
  const { data: items } = useQuery(elsewhereQuery(api, Number(merchantId)))
  if (items === undefined) return <Skeleton lines={4} />
  if (items === null)
    return (
      <p className="note note-bad" role="alert">
        <strong>The catalogues do not answer now.</strong> Reload the page in a minute.
      </p>
    )
  if (items.length === 0)
    return (
      <Empty title="Nothing was found">
        <p>No public catalogue names an offer that pays this merchant.</p>
      </Empty>
    )
  return (
    <ul className="list">
      {items.slice(0, MOST).map((item) => (
        <li key={item.resource} className="offer">
          <div className="row row-apart">
            <h3>
              {item.product_id ? (
                <ProductLink
                  product={{
                    merchant_id: Number(merchantId),
                    product_id: item.product_id,
                    name: item.name ?? '',
                  }}
                />
              ) : (
                <Foreign text={item.name ?? 'Without a name'} most={80} />
              )}
            </h3>
            {item.status === 'discoverable' ? (
              <Badge title="It is not sold through reviews here">Elsewhere only</Badge>
            ) : (
              <Badge tone="good">Sold here, too</Badge>
            )}
          </div>
          {item.description && (
            <p className="soft small">
              <Foreign text={item.description} most={280} />
            </p>
          )}
          <p className="small">
            <OutsideLink url={item.resource} />
          </p>
        </li>
      ))}
    </ul>
  )
}
