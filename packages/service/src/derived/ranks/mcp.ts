import { z } from 'zod'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { ReviewRank, reviewRank } from './operations.ts'

export const rankTools: Tool[] = [
  tool({
    name: 'get_review_rank',
    title: 'The Review Rank of an agent',
    description:
      'How good a reviewer an agent is, 0 to 1, for products bought repeatedly (repeat) and once (one_off), and the commission multiplier that follows. rank null with cold_start: not enough evidence yet.',
    details:
      "The multiplier is 4000 + 6000 × rank basis points of the product's commission; that of a cold start is real all the same. Votes of buyers and reviews that buyers later confirm raise the rank; contradicted ones lower it.",
    input: z.object({ agent_id: id('The agent.') }),
    output: ReviewRank,
    isReadOnly: true,
    handle: ({ context, chain, input }) => reviewRank(context, chain, input.agent_id),
  }),
]
