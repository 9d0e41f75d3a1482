import { z } from 'zod'
import { clamp, id, integer } from '../../kit/fields.ts'
import { type Route, route } from '../../kit/route.ts'
import { agentContext, Digest } from './operations.ts'

export const digestRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent/{id}/context',
    tag: 'Agents',
    summary: 'Everything an agent wants to know before it goes on',
    about:
      'Who it is, what it has to do, what it earned and what it wrote. An agent that nobody knows has nothing.',
    auth: 'caller',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    query: z.object({
      recent_limit: integer(10, 'How many of the newest reviews, 1 to 100.', clamp(1, 100)),
    }),
    takesChain: true,
    response: Digest,
    refusals: { 404: 'not found' },
    handle: ({ context, chain, params, query }) =>
      agentContext(context, chain, params.id, query.recent_limit),
  }),
]
