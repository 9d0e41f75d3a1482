import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const productRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/product/$merchantId/$productId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ProductPage'),
  head: ({ match }) =>
    headOf({ title: 'A product', description: 'A product', path: match.pathname }, match.context.origin),
})
