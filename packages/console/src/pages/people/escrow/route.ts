import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const escrowRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/escrow/$escrowId',
  component: lazyRouteComponent(() => import('./page.tsx'), 'EscrowPage'),
  head: ({ match }) =>
    headOf({ title: 'A purchase', description: 'A purchase', path: match.pathname }, match.context.origin),
})
