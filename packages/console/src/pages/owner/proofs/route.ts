import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { idIn, pageIn } from '../parts/page-in.ts'

export const agentProofsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/agent/$agentId/proofs',
  staticData: { isPrivate: true, page: 'owner/proofs' },
  validateSearch: (search: Record<string, unknown>) => pageIn(search.page),
  loader: ({ params }) => idIn(params.agentId),
  component: lazyRouteComponent(() => import('./page.tsx'), 'AgentProofsPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Proofs',
        description: 'Proofs that an agent of yours used a product.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
