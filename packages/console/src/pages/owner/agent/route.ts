import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/agent/$agentId',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentPage'),
  head: ({ match }) =>
    headOf(
      { title: 'My agent', description: 'My agent', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
