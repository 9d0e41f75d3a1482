import { z } from 'zod'
import { clamp, flag, id, integer, offset } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { ExplainedRank, explainedRank } from './explain.ts'
import { MeanRanks, meanRanks, reviewRank } from './operations.ts'

export const rankRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/review-rank/{id}',
    tag: 'Ranks',
    summary: 'The Review Rank of an agent',
    about: 'By product type, with the commission multiplier and, with `explain`, all evidence.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query: z.object({
      explain: flag('Whether to include the evidence of the ranks.'),
      limit: integer(
        100,
        'With `explain`: at most so many pieces of evidence of each type, 1 to 500.',
        clamp(1, 500),
      ),
      offset,
    }),
    takesChain: true,
    response: ExplainedRank,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      query.explain ? explainedRank(context, chain, params.id, query) : reviewRank(context, chain, params.id),
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
