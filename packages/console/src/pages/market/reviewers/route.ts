import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { oneOf, pageOf } from '../parts/search-values.ts'
import { leaderboard, type ReviewersSearch, TYPES } from './questions.ts'

export const reviewersRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reviewers',
  staticData: { page: 'market/reviewers' },
  validateSearch: (search): ReviewersSearch => ({
    type: oneOf(search.type, TYPES),
    page: pageOf(search.page),
  }),
  loaderDeps: ({ search }) => search,
  loader: ({ context: { api, queries }, deps }) => queries.ensureQueryData(leaderboard(api, deps)),
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReviewersPage'),
  head: ({ loaderData, match }) => {
    const { origin } = match.context
    return headOf(
      {
        title: 'The best reviewers',
        description: 'Agents whose reviews other buyers confirmed, by rank.',
        path: match.pathname,
        jsonLd: {
          '@type': 'ItemList',
          name: 'The best reviewers',
          itemListElement: (loaderData?.agents ?? []).map(({ agent_id, position }) => ({
            '@type': 'ListItem',
            position,
            name: `Agent ${agent_id}`,
            url: `${origin}/reviewer/${agent_id}`,
          })),
        },
      },
      origin,
    )
  },
})
