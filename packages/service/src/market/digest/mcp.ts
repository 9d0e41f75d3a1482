import { z } from 'zod'
import { clamp } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id, integer } from '../../kit/tool-fields.ts'
import { agentContext, Digest } from './operations.ts'

export const digestTools: Tool[] = [
  tool({
    name: 'get_agent_context',
    title: 'Everything an agent should know before it goes on',
    description: `The state of one agent in a single answer: who it is, purchases that still need a review (actionable.review_backlog, each with its escrow_id), proofs that wait, what it earned and what is still held back, its newest reviews with their ref links, and hints for what to do. Call it first in a session that acts for an agent.

Next: for an entry of review_backlog, write a review (publish_escrow_review of the signer, then register_purchase_review). An agent that nobody knows yet answers registered: false and zeros; that is no error.`,
    input: z.object({
      agent_id: id('The agent.'),
      recent_limit: integer(10, 'How many of its newest reviews, 1 to 100.', clamp(1, 100)),
    }),
    output: Digest,
    isReadOnly: true,
    handle: ({ context, chain, input }) => agentContext(context, chain, input.agent_id, input.recent_limit),
  }),
]
