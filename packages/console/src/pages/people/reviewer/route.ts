import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const reviewerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reviewer/$agentId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReviewerPage'),
  head: ({ match }) =>
    headOf({ title: 'A reviewer', description: 'A reviewer', path: match.pathname }, match.context.origin),
})
