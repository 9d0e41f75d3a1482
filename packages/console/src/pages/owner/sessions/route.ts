import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'

export const sessionsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/sessions',
  staticData: { isPrivate: true, page: 'owner/sessions' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SessionsPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Sessions',
        description: 'Where your account is signed in.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
