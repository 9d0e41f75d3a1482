import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'

export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  staticData: { isPrivate: true, page: 'operator/overview' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'OverviewPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Operating the market',
        description: 'Operating the market',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
