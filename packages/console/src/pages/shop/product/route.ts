import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const shopProductRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId/product/$productId',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopProductPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My product', description: 'My product', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
