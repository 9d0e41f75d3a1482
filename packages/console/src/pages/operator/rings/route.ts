import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'
import { RING_STATES, type RingState } from './states.ts'

export const ringsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/rings',
  staticData: { isPrivate: true, page: 'operator/rings' },
  validateSearch: (search): { state: RingState; page?: number } => {
    const page = pageIn(search.page)
    const state = RING_STATES.find((each) => each === search.state) ?? 'open'
    return { state, ...(page && { page }) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'RingsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Rings', description: 'Rings', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
