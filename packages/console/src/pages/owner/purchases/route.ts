import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const purchasesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/purchases',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'PurchasesPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My purchases', description: 'My purchases', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
