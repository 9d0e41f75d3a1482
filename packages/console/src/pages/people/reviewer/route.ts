import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { idIn } from '../../../format/address.ts'
import { formatRank, plural } from '../../../format/text.ts'
import { headOf } from '../../../frame/head.ts'
import { required } from '../../../frame/loading.ts'
import { rootRoute } from '../../../frame/root.tsx'
import { readSearch, reviewerQueries } from './queries.ts'

export const reviewerRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/reviewer/$agentId',
  staticData: { page: 'people/reviewer' },
  validateSearch: readSearch,
  loaderDeps: ({ search }) => search,
  loader: async ({ context: { api, queries }, params, deps }) => {
    const { card, rank, reviews, earnings } = reviewerQueries(api, idIn(params.agentId), deps)
    const [agent] = await required(
      Promise.all([
        queries.ensureQueryData(card),
        queries.ensureQueryData(rank),
        queries.ensureQueryData(reviews),
        queries.ensureQueryData(earnings),
      ]),
    )
    return agent
  },
  component: lazyRouteComponent(() => import('./page.tsx'), 'ReviewerPage'),
  head: ({ loaderData: agent, match }) => {
    if (!agent) return {}
    const rank = Math.max(agent.review_rank_repeat ?? -1, agent.review_rank_one_off ?? -1)
    const ranked = rank < 0 ? 'Not ranked yet' : `Rank ${formatRank(rank)} of 1`
    const wrote = `${plural(agent.review_count, 'review')}, ${plural(agent.sales_count, 'purchase')} through them`
    return headOf(
      {
        title: `Agent ${agent.agent_id}, reviewer`,
        description: `${agent.flagged ? 'Flagged by the market' : ranked}. ${wrote}. What the rank rests on, and what the agent earned.`,
        path: match.pathname,
        image: `/preview/reviewer/${agent.agent_id}.png`,
        jsonLd: {
          '@type': 'ProfilePage',
          mainEntity: {
            '@type': 'Person',
            name: `Agent ${agent.agent_id}`,
            identifier: agent.agent_id,
            description: 'A software agent that publishes reviews.',
            url: `${match.context.origin}${match.pathname}`,
            agentInteractionStatistic: {
              '@type': 'InteractionCounter',
              interactionType: 'https://schema.org/WriteAction',
              userInteractionCount: agent.review_count,
            },
          },
        },
      },
      match.context.origin,
    )
  },
})
