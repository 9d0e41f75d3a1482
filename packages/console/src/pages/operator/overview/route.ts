import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const overviewRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator',
  staticData: { isPrivate: true },
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
