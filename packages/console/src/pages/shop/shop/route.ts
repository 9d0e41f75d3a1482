import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const shopRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My shop', description: 'My shop', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
