import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn } from '../../../format/address.ts'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'

export const ringRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/rings/$ringId',
  staticData: { isPrivate: true, page: 'operator/ring' },
  loader: ({ params }) => idIn(params.ringId, 1),
  validateSearch: (search): { page?: number } => {
    const page = pageIn(search.page)
    return page ? { page } : {}
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'RingPage'),
  head: ({ match }) =>
    headOf(
      { title: 'A suspected ring', description: 'A suspected ring', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
