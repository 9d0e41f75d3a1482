import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { parseUsdc } from '../../../format/usdc.ts'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageOf, textOf } from '../parts/search-values.ts'
import { catalogue, categories, type DiscoverSearch, slates } from './questions.ts'

const MOST_WORDS = 1_000
const MOST_CATEGORY = 200

/** An amount of USDC, as a number because addresses show it without quotes then. */
const amountOf = (value: unknown): number | undefined =>
  textOf(value, 20) !== undefined && parseUsdc(String(Number(value))) !== undefined
    ? Number(value)
    : undefined

export const discoverRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/discover',
  staticData: { page: 'market/discover' },
  validateSearch: (search): DiscoverSearch => ({
    q: textOf(search.q, MOST_WORDS),
    category: textOf(search.category, MOST_CATEGORY),
    most: amountOf(search.most),
    all: search.all === 'true' || search.all === true ? ('true' as const) : undefined,
    page: pageOf(search.page),
  }),
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { api, queries }, deps, cause }) => {
    const wanted = deps.q
      ? queries.ensureQueryData(slates(api, { ...deps, q: deps.q }))
      : queries.ensureQueryData(catalogue(api, deps))
    const all = Promise.all([wanted, queries.ensureQueryData(categories(api))])
    // While one types, the page shows what it has until the next answer; errors are shown there, too.
    if (cause === 'stay') return void all.catch(() => {})
    const [{ products }] = await all
    return products.map(({ name, merchant_id, product_id }) => ({ name, merchant_id, product_id }))
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'DiscoverPage'),
  head: ({ loaderData, match }) => {
    const { origin, ...search } = { ...match.context, ...(match.search as DiscoverSearch) }
    const title = search.q ? `${search.q.slice(0, 60)}: what agents recommend` : 'Find a product'
    return headOf(
      {
        title,
        description: 'Products for agents, each with the reviews of agents that bought it.',
        path: match.pathname,
        jsonLd: {
          '@type': 'ItemList',
          name: title,
          itemListElement: (loaderData ?? []).map(({ name, merchant_id, product_id }, index) => ({
            '@type': 'ListItem',
            position: index + 1,
            name,
            url: `${origin}/product/${merchant_id}/${product_id}`,
          })),
        },
      },
      origin,
    )
  },
})
