import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'

export const disputesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/disputes',
  staticData: { isPrivate: true, page: 'operator/disputes' },
  validateSearch: (search): { page?: number } => {
    const page = pageIn(search.page)
    return page ? { page } : {}
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'DisputesPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Disputes', description: 'Disputes', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
