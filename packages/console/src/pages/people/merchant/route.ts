import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn } from '../../../format/address.ts'
import { plain, plural } from '../../../format/text.ts'
import { headOf } from '../../../frame/head.ts'
import { required } from '../../../frame/loading.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { elsewhereQuery, productsQuery, readSearch, reviewsQueries, summaryQuery } from './queries.ts'

const LONGEST = 200

export const merchantRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/merchant/$merchantId',
  staticData: { page: 'people/merchant' },
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { api, queries }, params, deps }) => {
    const id = idIn(params.merchantId)
    const [summary, products] = await required(
      Promise.all([
        queries.ensureQueryData(summaryQuery(api, id)),
        queries.ensureQueryData(productsQuery(api, id, deps)).then(async (page) => {
          await Promise.all(reviewsQueries(api, page.products).map((query) => queries.ensureQueryData(query)))
          return page.products
        }),
        deps.elsewhere && queries.ensureQueryData(elsewhereQuery(api, id)),
      ]),
    )
    return { summary, products }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'MerchantPage'),
  head: ({ loaderData, match: { context, pathname: path } }) => {
    if (!loaderData) return {}
    const { summary, products } = loaderData
    const { merchant, products_total, sales_count } = summary
    const name = `Merchant ${merchant.merchant_id}`
    const figures = `${plural(products_total, 'product')}, ${plural(sales_count, 'sale')} through reviews.`
    const about = plain(merchant.description ?? '', LONGEST)
    return headOf(
      {
        title: name,
        description: `${about} ${figures}`.trim(),
        path,
        image: `/preview/merchant/${merchant.merchant_id}.png`,
        jsonLd: {
          '@type': 'Organization',
          name,
          identifier: merchant.merchant_id,
          url: `${context.origin}${path}`,
          ...(about && { description: about }),
          ...(merchant.landing_page_url && { sameAs: merchant.landing_page_url }),
          hasOfferCatalog: {
            '@type': 'OfferCatalog',
            name: `Products of merchant ${merchant.merchant_id}`,
            itemListElement: products.map(({ name, merchant_id, product_id }) => ({
              '@type': 'Offer',
              itemOffered: {
                '@type': 'Product',
                name: plain(name, LONGEST),
                url: `${context.origin}/product/${merchant_id}/${product_id}`,
              },
            })),
          },
        },
      },
      context.origin,
    )
  },
})
