import { z } from 'zod'
import { flag, momentShown } from '../../kit/fields.ts'
import { time } from '../../kit/json-values.ts'
import { type Route, route } from '../../kit/route.ts'
import { AgentCard, cardsOf } from '../agents/card.ts'
import { LONGEST_LIST, pageFields, pageShown, readPage } from '../page.ts'
import { listAgentIds } from './store.ts'

const AgentCases = z
  .object({
    agents: z.array(
      AgentCard.extend({
        flagged_at: momentShown.optional().meta({ about: 'Left out when it is not flagged, or not known.' }),
      }).meta({ id: 'AgentCase' }),
    ),
    ...pageShown,
  })
  .meta({ id: 'AgentCases' })

export const agentCasesRoute: Route = route({
  method: 'GET',
  path: '/admin/agents',
  tag: 'Admin',
  summary: 'Agents, or only those that are flagged',
  about: `By ascending id. The list ends after ${LONGEST_LIST} agents.`,
  auth: 'admin',
  query: z.object({ flagged: flag('Only those that are flagged.'), ...pageFields }),
  takesChain: true,
  response: AgentCases,
  async handle({ context, chain, query: { flagged, ...asked } }) {
    const { chainId } = chain.config
    const { rows, ...shown } = await readPage(asked, (part) =>
      listAgentIds(context.sql, chainId, { ...part, isFlagged: flagged }),
    )
    const cards = await cardsOf(
      context,
      chainId,
      rows.map(({ agent_id }) => agent_id),
    )
    const agents = rows.flatMap(({ agent_id, flagged_at }) => {
      const card = cards.get(agent_id)
      return card ? [{ ...card, ...(flagged_at && { flagged_at: time(flagged_at) }) }] : []
    })
    return { agents, ...shown }
  },
})
