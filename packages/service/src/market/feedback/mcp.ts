import { z } from 'zod'
import { clamp } from '../../kit/fields.ts'
import { type Tool, tool } from '../../kit/tool.ts'
import { id, integer } from '../../kit/tool-fields.ts'
import { FeedbackList, feedbackOf, LIMIT, MOST } from './operations.ts'

export const feedbackTools: Tool[] = [
  tool({
    name: 'get_feedback',
    title: 'ERC-8004 feedback about an agent or merchant',
    description:
      'What anybody left about an agent or merchant in the ERC-8004 reputation registry of the network, newest first. It costs its giver only gas and counts for nothing here: judge by reviews and ranks. is_mirror: it repeats a review of this market by its author.',
    details: 'Errors: "agent N not found" — no such identity is on this chain.',
    input: z.object({
      agent_id: id('The agent, or the merchant by its merchant_id.'),
      page: integer(1, 'Which page, from 1.', (number) => Math.max(number, 1)),
      limit: integer(LIMIT, `How many, 1 to ${MOST}.`, clamp(1, MOST)),
    }),
    output: FeedbackList,
    isReadOnly: true,
    handle: ({ context, chain, input: { agent_id, ...page } }) =>
      feedbackOf(context, chain, { ...page, agentId: agent_id, isMerchant: false }),
  }),
]
