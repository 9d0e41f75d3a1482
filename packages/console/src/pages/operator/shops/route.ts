import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { numberIn } from '../parts/ids.ts'
import { pageIn } from '../parts/page-in.ts'

export interface ShopsSearch {
  state: 'all' | 'verified' | 'unverified'
  page?: number
  /** Only this one. */
  shop?: number
}

export const shopsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/shops',
  staticData: { isPrivate: true, page: 'operator/shops' },
  validateSearch: (search): ShopsSearch => {
    const page = pageIn(search.page)
    const shop = numberIn(search.shop)
    const state = search.state === 'verified' || search.state === 'unverified' ? search.state : 'all'
    return { state, ...(page && { page }), ...(shop !== undefined && { shop }) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Shops', description: 'Shops', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
