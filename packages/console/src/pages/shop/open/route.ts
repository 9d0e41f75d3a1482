import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import type { Hex } from 'viem'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { merchantIdOf, productIdOf } from '../parts/ids.ts'

export const openShopRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/open',
  staticData: { isPrivate: true, page: 'shop/open' },
  /** What was chosen is in the address, so that it can be continued in any browser. */
  validateSearch: (search: Record<string, unknown>): { merchant?: number; product?: Hex } => {
    const merchant = merchantIdOf(search.merchant)
    const product = productIdOf(search.product)
    return { ...(merchant !== undefined && { merchant }), ...(product && { product }) }
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'OpenShopPage'),
  head: ({ match }) =>
    headOf(
      {
        title: 'Open a shop',
        description: 'Open a shop on this market, step by step.',
        path: match.pathname,
        isHidden: true,
      },
      match.context.origin,
    ),
})
