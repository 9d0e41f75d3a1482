import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const spendingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/spending',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SpendingPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Spending caps and queued purchases',
        description: 'Spending caps and queued purchases',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
