import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { numberIn, pageIn } from '../parts/page-in.ts'

export const spendingRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/spending',
  staticData: { isPrivate: true, page: 'owner/spending' },
  /** `agent`: whose queue is shown. */
  validateSearch: (search: Record<string, unknown>): { agent?: number; page?: number } => ({
    ...pageIn(search.page),
    ...numberIn('agent', search.agent),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SpendingPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Spending',
        description: 'Caps for what your agents spend, and purchases that you queue for them.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
