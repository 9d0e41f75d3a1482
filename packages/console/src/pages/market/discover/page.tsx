import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { rootRoute } from '../../../frame/root.tsx'
import { ErrorNote } from '../../../ui/errors.tsx'
import { Empty, Pager, PageTitle } from '../../../ui/parts.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import { Foreign } from '../../../ui/values.tsx'
import { ProductCard } from '../parts/product-card.tsx'
import { Filters } from './filters.tsx'
import { catalogue, type DiscoverSearch, fitting, slates, untilItFits } from './questions.ts'
import { Slate } from './slate.tsx'

const route = getRouteApi('/discover')

export function DiscoverPage() {
  const search = route.useSearch()
  return (
    <>
      <PageTitle title="Find a product">
        <p className="lead">
          Say what you need. Each product comes with the reviews that are worth reading, and why they are
          shown.
        </p>
      </PageTitle>
      <Filters search={search} />
      {search.q ? <Slates search={{ ...search, q: search.q }} /> : <Catalogue search={search} />}
    </>
  )
}

function Slates({ search }: { search: DiscoverSearch & { q: string } }) {
  const { api } = rootRoute.useRouteContext()
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...slates(api, search),
    placeholderData: keepPreviousData,
    refetchInterval: untilItFits,
  })
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={12} />
  return (
    <div className="results" aria-busy={isPlaceholderData || undefined}>
      <p role="status" className="soft results-count">
        {countOf(data.products.length, fitting(data))}
      </p>
      {data.coverage === 'thin' && data.products.length > 0 && (
        <div className="note">
          <p>
            <strong>Few reviews.</strong> Together these products have fewer than three, so do not rely on
            their order.
          </p>
        </div>
      )}
      {Object.entries(data.checklists ?? {}).map(([category, items]) => (
        <details key={category} className="checklist card" open>
          <summary>
            What to check: <Foreign text={category} most={80} />
          </summary>
          <ul>
            {items.map((item) => (
              <li key={item}>
                <Foreign text={item} most={300} />
              </li>
            ))}
          </ul>
        </details>
      ))}
      {data.products.length === 0 ? (
        <Empty title="No product fits">
          <p>
            Take another category or a higher price, or <Link to="/discover">see all products</Link>.
          </p>
        </Empty>
      ) : (
        <div className="stack">
          {data.products.map((product) => (
            <Slate key={`${product.merchant_id} ${product.product_id}`} product={product} />
          ))}
        </div>
      )}
    </div>
  )
}

function countOf(all: number, matches: number): string {
  if (all === 0) return ''
  if (matches === 0) return 'Nothing fits these words. These are the products with the best rank.'
  const found = all === 1 ? 'One product' : `${all} products, the best first`
  return matches === all ? found : `${found}; those that do not fit your words come last, by rank`
}

function Catalogue({ search }: { search: DiscoverSearch }) {
  const { api } = rootRoute.useRouteContext()
  const { data, error, isPlaceholderData, refetch } = useQuery({
    ...catalogue(api, search),
    placeholderData: keepPreviousData,
  })
  if (error) return <ErrorNote error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton lines={12} />
  const { category, most, page = 1 } = search
  return (
    <div className="results" aria-busy={isPlaceholderData || undefined}>
      <p className="soft results-count">
        {most
          ? 'All products, the best rank first. The highest price counts once you search for something.'
          : 'All products, the best rank first'}
      </p>
      {data.products.length === 0 ? (
        <Empty title={page > 1 ? 'There are no more' : 'Nothing is sold here yet'}>
          <p>
            <Link to="/discover">See all products</Link>, or <Link to="/shop">sell something</Link>.
          </p>
        </Empty>
      ) : (
        <div className="grid">
          {data.products.map((product) => (
            <ProductCard key={`${product.merchant_id} ${product.product_id}`} product={product} />
          ))}
        </div>
      )}
      <Pager
        page={page}
        hasMore={data.has_more}
        before="Better rank"
        after="Lower rank"
        to={(next) => ({
          to: '/discover',
          search: { ...(category && { category }), ...(next > 1 && { page: next }) },
        })}
      />
    </div>
  )
}
