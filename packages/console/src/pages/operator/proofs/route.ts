import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const proofsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/proofs',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ProofsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Proofs', description: 'Proofs', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
