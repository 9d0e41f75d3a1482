import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { pageIn } from '../parts/page-in.ts'

export const checklistsRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/operator/checklists',
  staticData: { isPrivate: true, page: 'operator/checklists' },
  validateSearch: (search): { page?: number } => {
    const page = pageIn(search.page)
    return page ? { page } : {}
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ChecklistsPage'),
  head: ({ match }) =>
    headOf(
      { title: 'Checklists', description: 'Checklists', path: match.pathname, isHidden: true },
      match.context.origin,
    ),
})
