import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const openShopRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/open',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'OpenShopPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Open a shop', description: 'Open a shop', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
