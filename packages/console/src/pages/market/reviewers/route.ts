import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const reviewersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reviewers',
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReviewersPage'),
  head: ({ match }) =>
    headOf(
      { title: 'The best reviewers', description: 'The best reviewers', path: match.pathname },
      match.context.origin,
    ),
})
