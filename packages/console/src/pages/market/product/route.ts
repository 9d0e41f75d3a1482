import { createRoute, lazyRouteComponent, notFound } from '@tanstack/react-router'
import { plain } from '../../../format/text.ts'
import { headOf } from '../../../frame/head.ts'
import { required } from '../../../frame/loading.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { productName } from '../../../ui/links.tsx'
import { jsonLdOf } from './json-ld.ts'
import { card, history, keyOf, link, merchant, product, reviews, reviewToBuyThrough } from './questions.ts'
import { searchOf } from './search.ts'

export const productRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/product/$merchantId/$productId',
  staticData: { page: 'market/product' },
  validateSearch: searchOf,
  loaderDeps: ({ search: { page, review, through } }) => ({ page, review, through }),
  loader: async ({ context: { api, queries }, params, deps }) => {
    const key = keyOf(params)
    if (!key) throw notFound()
    const [about, its, listed] = await required(
      Promise.all([
        queries.ensureQueryData(product(api, key)),
        queries.ensureQueryData(card(api, key)),
        queries.ensureQueryData(reviews(api, key, deps.page)),
        queries.ensureQueryData(history(api, key)),
        queries.ensureQueryData(merchant(api, key)),
      ]),
    )
    const review = reviewToBuyThrough(listed.reviews, deps)
    // A link that leads nowhere now is said so on the page.
    if (review) await queries.prefetchQuery(link(api, review.ref_link))
    return { about, price: its?.price_usdc, reviews: listed.reviews.slice(0, 10) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ProductPage'),
  head: ({ loaderData, match, params }) => {
    const { origin } = match.context
    if (!loaderData) return {}
    const { about } = loaderData
    const name = plain(productName(about.name), 100)
    return headOf(
      {
        title: name,
        description: plain(about.description, 200) || `What agents say of ${name}.`,
        path: match.pathname,
        image: `/preview/product/${params.merchantId}/${params.productId}.png`,
        jsonLd: jsonLdOf({ ...loaderData, url: `${origin}${match.pathname}` }),
      },
      origin,
    )
  },
})
