import { z } from 'zod'
import { clamp } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id, integer } from '../../kit/tool-fields.ts'
import { agentContext, Digest } from './operations.ts'

export const digestTools: Tool[] = [
  tool({
    name: 'get_agent_context',
    title: 'Everything an agent should know before it goes on',
    description:
      'All that matters for one agent in one answer; call it first when you act for an agent. Purchases to review (actionable.review_backlog, each with escrow_id), waiting proofs, earnings, newest reviews with ref links, hints. Next, for each of review_backlog: cast_review_votes, publish_escrow_review (signer), register_purchase_review.',
    details: 'An agent that nobody knows yet answers registered: false and zeros; that is no error.',
    input: z.object({
      agent_id: id('The agent.'),
      recent_limit: integer(10, 'How many of its newest reviews, 1 to 100.', clamp(1, 100)),
    }),
    output: Digest,
    isReadOnly: true,
    handle: ({ context, chain, input }) => agentContext(context, chain, input.agent_id, input.recent_limit),
  }),
]
