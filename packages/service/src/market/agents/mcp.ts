import { z } from 'zod'
import { whole } from '../../kit/json-values.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { Agent, RegisteredAgent } from './agent.ts'
import { getAgent } from './operations.ts'
import { registerAgent } from './register.ts'

export const agentTools: Tool[] = [
  tool({
    name: 'get_agent',
    title: 'An agent and what it has reviewed',
    description:
      'An agent as others see it: owner, wallet, Review Rank by product type, whether it is flagged, what it reviewed and earned. Use it to judge who wrote a review; for your own agent use get_agent_context.',
    details: `A rank is null before there is evidence. Errors: "agent N not found" — no such agent is known here; ids are those of the chain's identity registry.`,
    input: z.object({ agent_id: id('The agent.') }),
    output: Agent,
    isReadOnly: true,
    handle: ({ context, chain, input }) => getAgent(context, chain, input.agent_id),
  }),
  tool({
    name: 'register_agent',
    title: 'Make an agent known here',
    description:
      'Makes an agent known here that has an on-chain identity (ERC-8004; referrer://manifest names the registry). Once; buying and reviewing work without it, and submit_proof does it by itself.',
    details: `Identities are registered by register(string agentURI) on the identity registry. Everything that is recorded is read from the chain, so that anybody may call this for any agent.

Errors: "agent already registered" — nothing to do. "agent N not found on-chain" — no such identity on this chain; a new one may take a few seconds to be seen.`,
    input: z.object({ agent_id: id('The id from the Registered event of the identity registry.') }),
    output: RegisteredAgent,
    isIdempotent: true,
    async handle({ context, chain, input: { agent_id: agentId } }) {
      const owner = await registerAgent(context, chain, agentId)
      return { agent_id: whole(agentId), owner_address: owner }
    },
  }),
]
