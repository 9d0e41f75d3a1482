import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'

export const proofsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/proofs',
  staticData: { isPrivate: true, page: 'operator/proofs' },
  validateSearch: (search): { status: 'pending' | 'approved' | 'rejected'; page?: number } => {
    const page = pageIn(search.page)
    const status = search.status === 'approved' || search.status === 'rejected' ? search.status : 'pending'
    return { status, ...(page && { page }) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ProofsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Proofs', description: 'Proofs', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
