import { z } from 'zod'
import { id } from '../http/fields.ts'
import { type Route, route } from '../http/route.ts'
import { MeanRanks, meanRanks, ReviewRank, reviewRank } from './operations.ts'

export const rankRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/review-rank/{id}',
    tag: 'Ranks',
    summary: 'The Review Rank of an agent',
    about: 'By product type, with what it makes of the commission.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    takesChain: true,
    response: ReviewRank,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) => reviewRank(context, chain, params.id),
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
