import { z } from 'zod'
import { account, bodyId, id, integer, lenient, optional, page, requireValue } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { requireOwner } from '../../kit/owner.ts'
import { type Route, route } from '../../kit/route.ts'
import { Agent, AgentList, RegisteredAgent } from './agent.ts'
import { agentsOf, getAgent, pageOfAgents } from './operations.ts'
import { registerAgent } from './register.ts'

const FIRST_PAGE = 1
const LIMIT = 20
const MAX_LIMIT = 500

export const agentRoutes: Route[] = [
  route({
    method: 'GET',
    path: '/v1/agent',
    tag: 'Agents',
    summary: 'All agents, or those of an owner',
    about: 'By ascending id. With `owner` all agents of that wallet at once, whatever `page` and `limit`.',
    auth: 'none',
    query: z.object({
      owner: optional(account('invalid owner address', 'A wallet, in upper or lower case.')),
      page: lenient(page),
      limit: lenient(
        integer(LIMIT, `How many a page: lower than 1 is ${LIMIT}, at most ${MAX_LIMIT}.`, (number) =>
          number < 1 ? LIMIT : Math.min(number, MAX_LIMIT),
        ),
      ),
    }),
    takesChain: true,
    response: AgentList,
    refusals: { 400: ['invalid page', 'invalid limit'] },
    async handle({ context, chain, query: { owner, ...query } }) {
      if (owner) {
        const agents = await agentsOf(context, chain, owner)
        return { agents, total: agents.length, page: FIRST_PAGE, limit: LIMIT }
      }
      const [page, limit] = [requireValue(query.page, 'page'), requireValue(query.limit, 'limit')]
      return textOf(await pageOfAgents(context, chain, { page, limit }))
    },
  }),
  route({
    method: 'GET',
    path: '/v1/agent/{id}',
    tag: 'Agents',
    summary: 'An agent',
    auth: 'none',
    params: z.object({ id: id(1, 'invalid agent id', 'The agent.') }),
    takesChain: true,
    response: Agent,
    refusals: { 404: 'agent not found' },
    handle: ({ context, chain, params }) => getAgent(context, chain, params.id),
  }),
  route({
    method: 'POST',
    path: '/v1/agent/register',
    tag: 'Agents',
    summary: 'Register an agent that the caller owns',
    about:
      'Its URI and payment wallet are read from the chain; what cannot be read is empty, and the owner. An agent that is not on the chain yet is waited for a few seconds.',
    auth: 'caller',
    body: { schema: z.object({ agent_id: bodyId.prefault(0) }), refusal: 'invalid agent_id' },
    takesChain: true,
    status: 201,
    response: RegisteredAgent,
    refusals: {
      403: 'caller does not own this agent',
      404: 'agent not found on-chain',
      409: 'agent already registered',
    },
    async handle({ context, chain, caller, body: { agent_id: agentId } }) {
      const owner = await registerAgent(context, chain, agentId, (found) => requireOwner(found, caller))
      return { agent_id: whole(agentId), owner_address: owner }
    },
  }),
]

const texts = new WeakMap<AgentList, string>()

/** Serializes a list once for all requests that share it. */
function textOf(list: AgentList): string {
  const text = texts.get(list) ?? JSON.stringify(list)
  texts.set(list, text)
  return text
}
