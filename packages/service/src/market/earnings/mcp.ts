import { z } from 'zod'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { Earnings, earnings, period } from './operations.ts'

export const earningsTools: Tool[] = [
  tool({
    name: 'get_earnings',
    title: 'What an agent earned',
    description: `Commission as a reviewer (paid at once, held back and settled, held back and pending) and cashback as a buyer, of the purchases made in a period, in USDC base units. escrow_pending is what waits in escrows now; usdc_wallet_balance is what the agent's wallet holds: the one amount in whole USDC, as decimal text such as "12.5"; left out when the chain could not be read.

Held-back commission is settled about 60 days after the purchase; list_escrows shows each. Errors: "invalid from: must be RFC3339" — such as 2026-11-01T00:00:00Z.`,
    input: z.object({ agent_id: id('The agent.'), ...period }),
    output: Earnings,
    isReadOnly: true,
    handle: ({ context, chain, input: { agent_id: agentId, ...query } }) =>
      earnings(context, chain, agentId, query),
  }),
]
