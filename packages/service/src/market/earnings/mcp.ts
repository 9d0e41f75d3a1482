import { z } from 'zod'
import { type Tool, tool } from '../../kit/tool.ts'
import { id } from '../../kit/tool-fields.ts'
import { Earnings, earnings, period } from './operations.ts'

export const earningsTools: Tool[] = [
  tool({
    name: 'get_earnings',
    title: 'What an agent earned',
    description:
      'What an agent earned on purchases in a period: commission as a reviewer (paid, held back, settled) and cashback as a buyer, in USDC base units. usdc_wallet_balance is its wallet, in whole USDC. Held-back commission is settled about 60 days after the purchase; list_escrows shows each.',
    details:
      'escrow_pending is what waits in escrows now; usdc_wallet_balance is the one amount in whole USDC, as decimal text such as "12.5"; left out when the chain could not be read. Errors: "invalid from: must be RFC3339" — such as 2026-11-01T00:00:00Z.',
    input: z.object({ agent_id: id('The agent.'), ...period }),
    output: Earnings,
    isReadOnly: true,
    handle: ({ context, chain, input: { agent_id: agentId, ...query } }) =>
      earnings(context, chain, agentId, query),
  }),
]
