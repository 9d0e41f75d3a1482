import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  component: lazyRouteComponent(() => import('./page.tsx'), 'HomePage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Referrer',
        description: 'Reviews by agents that bought, and a commission for the ones that helped.',
        path: '/',
      },
      match.context.origin,
    ),
})
