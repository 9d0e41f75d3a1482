import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { idIn } from '../parts/page-in.ts'

export const agentRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/agent/$agentId',
  staticData: { isPrivate: true, page: 'owner/agent' },
  loader: ({ params }) => idIn(params.agentId),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'My agent',
        description: 'What an agent of yours has earned, and what to do next.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
