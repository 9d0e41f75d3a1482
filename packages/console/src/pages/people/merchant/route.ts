import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const merchantRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/merchant/$merchantId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'MerchantPage'),
  head: ({ match }) =>
    headOf({ title: 'A merchant', description: 'A merchant', path: match.pathname }, match.context.origin),
})
