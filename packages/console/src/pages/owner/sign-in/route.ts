import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { localPath } from '../../../session/local-path.ts'

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  staticData: { isPrivate: true, page: 'owner/sign-in' },
  /** Where to go afterwards. */
  validateSearch: (search: Record<string, unknown>): { to?: string } => {
    const to = localPath(search.to)
    return to === undefined ? {} : { to }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'SignInPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Sign in',
        description: 'Sign in with the wallet that owns your agents or your shop.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
