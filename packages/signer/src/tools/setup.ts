import { z } from 'zod'
import { setUp } from '../setup/setup.ts'
import { Step } from '../setup/steps.ts'
import { tool } from '../tool.ts'

export const setup = tool({
  name: 'setup',
  title: 'Set up an agent',
  description:
    'Makes an agent from nothing: a key (kept encrypted here), gas and USDC from the faucet of a sandbox, an ERC-8004 identity (one transaction), a profile at the marketplace. Use when get_wallet_status shows no agent. A step that waits says for what, such as which address to fund. Call again to go on: nothing is made twice.',
  input: z.strictObject({
    fund: z.boolean().optional().describe('Ask the faucet (default: in a sandbox only).'),
    pledge_bps: z
      .int()
      .min(0)
      .max(10_000)
      .optional()
      .describe('Basis points of its commissions to give to buyers.'),
  }),
  output: z.object({
    agent_id: z.string().nullable(),
    address: z.string(),
    steps: z.array(Step),
    next_steps: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async handle(context, { fund, pledge_bps: cashbackBps }) {
    const { agentId, address, steps, nextSteps } = await setUp(context, { fund, cashbackBps })
    return { agent_id: agentId, address, steps, next_steps: nextSteps }
  },
})
