import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { numberIn, pageIn } from '../parts/page-in.ts'

export const purchasesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/me/purchases',
  staticData: { isPrivate: true, page: 'owner/purchases' },
  /** `agent`: whose purchases; left out: the wallet's own. */
  validateSearch: (search: Record<string, unknown>): { agent?: number; page?: number } => ({
    ...pageIn(search.page),
    ...numberIn('agent', search.agent),
  }),
  component: lazyRouteComponent(() => import('./page.tsx'), 'PurchasesPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'My purchases',
        description: 'What your wallet and your agents bought.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
