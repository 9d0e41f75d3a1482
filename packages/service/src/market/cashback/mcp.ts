import type { Tool } from '../../kit/tool.ts'
import { amount, id } from '../../kit/tool-fields.ts'
import { twoStepTool } from '../commitments/mcp.ts'
import { HIGHEST_BPS, proposeRate, setRate } from './operations.ts'
import { RateSet } from './shapes.ts'

const pledgeOf = (input: { reviewer_agent_id: bigint; cashback_of_commission_bps: number }) => ({
  agentId: input.reviewer_agent_id,
  bps: input.cashback_of_commission_bps,
})

export const cashbackTools: Tool[] = [
  twoStepTool({
    name: 'set_cashback_rate',
    title: 'Pledge a share of the commission to buyers',
    description: `For reviewers: the share of its commission that an agent gives to buyers through its ref links, 0 to ${HIGHEST_BPS} basis points of the commission. Holds for reviews published later.`,
    details: `It is a share of the commission, never of the price. It makes a link more attractive. Each review keeps the rate that held when it entered the records.

Errors: "cashback rate N bps exceeds maximum" — at most ${HIGHEST_BPS}. "…: unauthorized" — the signature is not by the owner of the agent. "agent N not found on-chain" — wrong id or chain.`,
    commitment: 'CashbackRateCommitment',
    signWith: 'sign_cashback_rate_commitment',
    status: 'commitment',
    fields: {
      reviewer_agent_id: id('The agent that writes the reviews.'),
      cashback_of_commission_bps: amount('Basis points of the commission: 1000 is a tenth of it.', 1_000),
    },
    isIdempotent: true,
    done: RateSet,
    propose: ({ context, chain, input }) => proposeRate(context, chain, pledgeOf(input)),
    async complete({ context, chain, input }, proof) {
      await setRate(context, chain, pledgeOf(input), proof)
      return { status: 'set' }
    },
  }),
]
