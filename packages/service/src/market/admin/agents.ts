import { z } from 'zod'
import { id, wholeNumber } from '../../kit/fields.ts'
import { whole } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { setFlag } from './operations.ts'

const Flag = z.object({ agent_id: wholeNumber, flagged: z.boolean() }).meta({ id: 'AgentFlag' })

const flagRoute = (action: 'flag' | 'unflag', summary: string) =>
  route({
    method: 'POST',
    path: `/admin/agents/{id}/${action}`,
    tag: 'Admin',
    summary,
    auth: 'admin',
    params: z.object({ id: id(0, 'invalid agent id', 'The agent.') }),
    takesChain: true,
    response: Flag,
    refusals: { 404: 'not found' },
    async handle(call) {
      const flagged = action === 'flag'
      await setFlag(call, call.params.id, flagged)
      return { agent_id: whole(call.params.id), flagged }
    },
  })

export const adminAgentRoutes: Route[] = [
  flagRoute('flag', 'Flag an agent: its rank counts as 0'),
  flagRoute('unflag', 'Take the flag back'),
]
