import { createRoute, lazyRouteComponent, type SearchSchemaInput } from '@tanstack/react-router'
import { type Period, periodOf } from '../../../format/period.ts'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { requireIds } from '../parts/ids.ts'

export const salesRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/shop/$merchantId/sales',
  staticData: { isPrivate: true, page: 'shop/sales' },
  validateSearch: (
    search: { days?: unknown; page?: unknown } & SearchSchemaInput,
  ): { days: Period; page: number } => ({
    days: periodOf(search.days),
    page: Math.max(1, Math.min(500, Math.trunc(Number(search.page)) || 1)),
  }),
  loader: ({ params }) => requireIds(params),
  component: lazyRouteComponent(() => import('./page.tsx'), 'SalesPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Sales', description: 'Sales and payouts of a shop.', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
