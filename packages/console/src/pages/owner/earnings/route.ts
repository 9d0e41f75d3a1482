import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const agentEarningsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/agent/$agentId/earnings',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentEarningsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Earnings', description: 'Earnings', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
