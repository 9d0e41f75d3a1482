import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { requireIds } from '../parts/ids.ts'

export const shopProductRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId/product/$productId',
  staticData: { isPrivate: true, page: 'shop/product' },
  loader: ({ params }) => requireIds(params),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopProductPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My product', description: 'A product of a shop.', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
