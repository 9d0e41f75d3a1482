import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/link',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'LinkPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Link a chat', description: 'Link a chat', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
