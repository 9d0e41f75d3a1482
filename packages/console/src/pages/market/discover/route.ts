import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const discoverRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/discover',
  component: lazyRouteComponent(() => import('./page.tsx'), 'DiscoverPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Find a product', description: 'Find a product', path: match.pathname },
      match.context.origin,
    ),
})
