import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'

export const linkRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/link',
  staticData: { isPrivate: true, page: 'owner/link' },
  /** The code that the bot gave. */
  validateSearch: ({ code }: Record<string, unknown>): { code?: string } =>
    typeof code === 'string' && /^[\w-]{1,100}$/.test(code) ? { code } : {},
  component: lazyRouteComponent(() => import('./page.tsx'), 'LinkPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Link a chat',
        description: 'Link the chat that gave you a code to your wallet.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
