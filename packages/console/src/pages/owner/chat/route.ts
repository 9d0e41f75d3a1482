import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'

export const chatRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/chat',
  staticData: { isPrivate: true, page: 'owner/chat' },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ChatPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Chat',
        description: 'Link a chat to your wallet.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
