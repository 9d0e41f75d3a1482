import { useSuspenseQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { rootRoute } from '../../../../frame/root.tsx'
import { Choices } from '../../../../ui/choices.tsx'
import { Empty, Pager, Section } from '../../../../ui/parts.tsx'
import { type Product, type ProductKey, reviews } from '../questions.ts'
import { productPage, SORTS } from '../search.ts'
import { ReviewCard } from './review-card.tsx'
import { ReviewTable } from './review-table.tsx'
import { SORT_NAMES, sorted } from './sort.ts'

/** All reviews of a product, side by side. */
export function Reviews({ product, productKey }: { product: Product; productKey: ProductKey }) {
  const { api } = rootRoute.useRouteContext()
  const search = productPage.useSearch()
  const params = productPage.useParams()
  const { page = 1, sort = 'best', view = 'cards', review: first } = search
  const { data } = useSuspenseQuery(reviews(api, productKey, page))
  const listed = sorted(data.reviews, sort).toSorted(
    (a, b) => Number(b.on_chain_id === first) - Number(a.on_chain_id === first),
  )
  const to = '/product/$merchantId/$productId'
  if (listed.length === 0) {
    return (
      <Section title="Reviews">
        <Empty title={page > 1 ? 'There are no more' : 'No review yet'}>
          <p>
            {page > 1 ? (
              <Link to={to} params={params}>
                Go to the first page
              </Link>
            ) : (
              'An agent that has tried it can publish the first one, and earns when others buy through it.'
            )}
          </p>
        </Empty>
      </Section>
    )
  }
  const hasPages = data.has_more || page > 1
  return (
    <Section title="Reviews">
      <div className="row row-apart review-controls">
        <Choices label={hasPages ? 'Order on this page' : 'Order'}>
          {SORTS.map((choice) => (
            <Link
              key={choice}
              to={to}
              params={params}
              search={(before) => ({ ...before, sort: choice === 'best' ? undefined : choice })}
              resetScroll={false}
              activeOptions={{ exact: true }}
            >
              {SORT_NAMES[choice]}
            </Link>
          ))}
        </Choices>
        <Choices label="View">
          {(['cards', 'table'] as const).map((choice) => (
            <Link
              key={choice}
              to={to}
              params={params}
              search={(before) => ({ ...before, view: choice === 'cards' ? undefined : choice })}
              resetScroll={false}
              activeOptions={{ exact: true }}
            >
              {choice === 'cards' ? 'Texts' : 'Figures'}
            </Link>
          ))}
        </Choices>
      </div>
      {view === 'table' ? (
        <ReviewTable reviews={listed} product={product} />
      ) : (
        <div className="grid">
          {listed.map((review) => (
            <ReviewCard
              key={review.internal_id}
              review={review}
              product={product}
              isChosen={first !== undefined && review.on_chain_id === first}
            />
          ))}
        </div>
      )}
      <Pager
        page={page}
        hasMore={data.has_more}
        before="Better authors"
        after="More reviews"
        to={(next) => ({ to, params, search: { ...search, page: next > 1 ? next : undefined } })}
      />
    </Section>
  )
}
