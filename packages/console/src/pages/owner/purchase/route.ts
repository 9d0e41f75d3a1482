import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const purchaseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/purchase/$escrowId',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'PurchasePage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'A purchase of mine',
        description: 'A purchase of mine',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
