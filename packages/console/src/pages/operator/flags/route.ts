import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { numberIn } from '../parts/ids.ts'
import { pageIn } from '../parts/page-in.ts'

export const flagsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/agents',
  staticData: { isPrivate: true, page: 'operator/flags' },
  validateSearch: (search): { page?: number; agent?: number } => {
    const page = pageIn(search.page)
    const agent = numberIn(search.agent)
    return { ...(page && { page }), ...(agent !== undefined && { agent }) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'FlagsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Flagged agents', description: 'Flagged agents', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
