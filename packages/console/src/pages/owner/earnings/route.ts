import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { idIn, pageIn } from '../parts/page-in.ts'

export const agentEarningsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/agent/$agentId/earnings',
  staticData: { isPrivate: true, page: 'owner/earnings' },
  validateSearch: (search: Record<string, unknown>) => pageIn(search.page),
  loader: ({ params }) => idIn(params.agentId),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentEarningsPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Earnings',
        description: 'What an agent of yours has earned, day by day.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
