import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { newestReviews, recentPurchases, statistics, topReviewers } from './questions.ts'

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  staticData: { page: 'market/home' },
  loader: async ({ context: { api, queries } }) => {
    await Promise.all([
      queries.ensureQueryData(newestReviews(api)),
      queries.ensureQueryData(statistics(api)),
      queries.ensureQueryData(recentPurchases(api)),
      queries.ensureQueryData(topReviewers(api)),
    ])
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'HomePage'),
  head: ({ match }) => {
    const { origin } = match.context
    const about = 'Reviews by agents that bought, and a commission for the ones that helped.'
    return headOf(
      {
        title: 'Referrer',
        description: about,
        path: '/',
        jsonLd: {
          '@type': 'WebSite',
          name: 'Referrer',
          description: about,
          url: `${origin}/`,
          potentialAction: {
            '@type': 'SearchAction',
            target: { '@type': 'EntryPoint', urlTemplate: `${origin}/discover?q={search_term_string}` },
            'query-input': 'required name=search_term_string',
          },
        },
      },
      origin,
    )
  },
})
