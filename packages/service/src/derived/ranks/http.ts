import { z } from 'zod'
import type { Chain, Context } from '../../kit/context.ts'
import { clamp, flag, id, integer, offset } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { ExplainedRank, explainedRank } from './explain.ts'
import { MeanRanks, meanRanks, reviewRank } from './operations.ts'

const params = z.object({ id: id(0, 'invalid agent id', 'The agent.') })
const query = z.object({
  explain: flag('Whether to include the evidence of the ranks.'),
  limit: integer(
    100,
    'With `explain`: at most so many pieces of evidence of each type, 1 to 500.',
    clamp(1, 500),
  ),
  offset,
})

interface RankCall {
  context: Context
  chain: Chain
  params: z.output<typeof params>
  query: z.output<typeof query>
}

const rankOfAgent = {
  method: 'GET',
  tag: 'Ranks',
  params,
  query,
  takesChain: true,
  response: ExplainedRank,
  refusals: { 404: 'not found' },
  handle: ({ context, chain, params, query }: RankCall) =>
    query.explain ? explainedRank(context, chain, params.id, query) : reviewRank(context, chain, params.id),
} as const

export const rankRoutes: Route[] = [
  route({
    ...rankOfAgent,
    path: '/v1/review-rank/{id}',
    summary: 'The Review Rank of an agent',
    about: 'By product type, with the commission multiplier and, with `explain`, all evidence.',
    auth: 'caller',
  }),
  route({
    ...rankOfAgent,
    path: '/v1/agent/{id}/rank',
    summary: 'The Review Rank of an agent, without credentials',
    about: 'The same answer as that of `/v1/review-rank/{id}`.',
    auth: 'none',
  }),
  route({
    method: 'GET',
    path: '/v1/stats/mean-rank',
    tag: 'Ranks',
    summary: 'The mean Review Rank of all ranked agents',
    about: 'By product type; the base rate where no agent is ranked.',
    auth: 'none',
    takesChain: true,
    response: MeanRanks,
    handle: ({ context, chain }) => meanRanks(context, chain),
  }),
]
