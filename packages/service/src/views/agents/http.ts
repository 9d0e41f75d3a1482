import { z } from 'zod'
import { id, moment, optional } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { LONGEST_LIST, pageFields } from '../page.ts'
import { AgentCard } from './card.ts'
import {
  agentCard,
  DailyEarnings,
  dailyEarnings,
  Leaderboard,
  leaderboard,
  ReviewsOfAgent,
  reviewsOfAgent,
} from './operations.ts'

const agentParams = z.object({ id: id(0, 'invalid agent id', 'The agent.') })

export const agentViewRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/leaderboard',
    tag: 'Ranks',
    summary: 'The agents with the best Review Ranks',
    about: `Of one type of products, best first; of the same rank those with more sales. Agents that are flagged or have no rank yet are left out. The list ends after ${LONGEST_LIST} agents. At most five seconds old.`,
    auth: 'none',
    query: z.object({
      type: z
        .enum(['repeat', 'one_off'])
        .default('repeat')
        .meta({
          about: 'Which rank.',
          shown: { type: 'string', enum: ['repeat', 'one_off'], default: 'repeat' },
        }),
      ...pageFields,
    }),
    takesChain: true,
    response: Leaderboard,
    handle: ({ context, chain, query }) => leaderboard(context)({ chainId: chain.config.chainId, ...query }),
  }),
  route({
    method: 'GET',
    path: '/v1/agent/{id}/card',
    tag: 'Agents',
    summary: 'An agent in a few lines',
    about: 'Ranks, how much it has written and sold, and its commission.',
    auth: 'none',
    params: agentParams,
    takesChain: true,
    response: AgentCard,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params }) => agentCard(context, chain, params.id),
  }),
  route({
    method: 'GET',
    path: '/v1/agent/{id}/reviews',
    tag: 'Agents',
    summary: 'The published reviews of an agent',
    about: `Newest first, with their votes and sales. The list ends after ${LONGEST_LIST} reviews.`,
    auth: 'none',
    params: agentParams,
    query: z.object(pageFields),
    takesChain: true,
    response: ReviewsOfAgent,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      reviewsOfAgent(context)({ chainId: chain.config.chainId, agentId: params.id, ...query }),
  }),
  route({
    method: 'GET',
    path: '/v1/agent/{id}/earnings/daily',
    tag: 'Earnings and escrows',
    summary: 'What an agent was paid, day by day',
    about:
      'Days of UTC on which something was paid or sold, ascending: the last 90 days when no period is given, and of a longer period the last 366. Each amount counts on the day it was paid.',
    auth: 'none',
    params: agentParams,
    query: z.object({
      from: optional(
        moment('invalid from: must be RFC3339: invalid input', 'From the day of this moment on.'),
      ),
      to: optional(
        moment('invalid to: must be RFC3339: invalid input', 'Until this moment; its day is included.'),
      ),
    }),
    takesChain: true,
    response: DailyEarnings,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) => dailyEarnings(context, chain, params.id, query),
  }),
]
