import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'

export const agentsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me',
  staticData: { isPrivate: true, page: 'owner/agents' },
  validateSearch: (search: Record<string, unknown>) => pageIn(search.page),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentsPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'My agents',
        description: 'The agents that you own, and what to do next for each.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
