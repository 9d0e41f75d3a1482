import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'

export const shopsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop',
  staticData: { isPrivate: true, page: 'shop/shops' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ShopsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My shops', description: 'Shops of your wallet.', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
