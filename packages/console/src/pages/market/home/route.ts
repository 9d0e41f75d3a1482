import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { headOf } from '../../../frame/head.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { newestReviews, productOf, recentPurchases, statistics, topReviewers } from './questions.ts'

export const homeRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/',
  loader: async ({ context: { api, queries } }) => {
    const [reviews] = await Promise.all([
      queries.ensureQueryData(newestReviews(api)),
      queries.ensureQueryData(statistics(api)),
      queries.ensureQueryData(recentPurchases(api)),
      queries.ensureQueryData(topReviewers(api)),
    ])
    // A listed review does not name its product. One that has closed is shown without its name.
    await Promise.all(reviews.reviews.map((review) => queries.prefetchQuery(productOf(api, review))))
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
