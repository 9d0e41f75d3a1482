import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { idIn } from '../parts/page-in.ts'

export const purchaseRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/purchase/$escrowId',
  staticData: { isPrivate: true, page: 'owner/purchase' },
  loader: ({ params }) => idIn(params.escrowId),
  component: lazyRouteComponent(() => import('./page.tsx'), 'PurchasePage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'A purchase of mine',
        description: 'Vote, review, and earn the cashback of a purchase.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
