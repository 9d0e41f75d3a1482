import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const salesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId/sales',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SalesPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Sales', description: 'Sales', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
