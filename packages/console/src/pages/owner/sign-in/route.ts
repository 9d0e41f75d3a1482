import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../app/head.ts'
import { rootRoute } from '../../../app/root.tsx'

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  staticData: { isPrivate: true },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignInPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Sign in', description: 'Sign in', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
