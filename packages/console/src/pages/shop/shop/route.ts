import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { requireIds } from '../parts/ids.ts'

export const shopRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId',
  staticData: { isPrivate: true, page: 'shop/shop' },
  loader: ({ params }) => requireIds(params),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopPage'),
  head: ({ match, params }) =>
    headOf(
      {
        title: `Shop ${params.merchantId}`,
        description: 'A shop and its products.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
