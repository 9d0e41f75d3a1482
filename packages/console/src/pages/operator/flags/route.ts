import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const flagsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/agents',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'FlagsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Flagged agents', description: 'Flagged agents', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
