import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My agents', description: 'My agents', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
