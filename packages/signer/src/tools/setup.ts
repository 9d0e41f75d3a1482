import { z } from 'zod'
import { whole } from '../fields.ts'
import { setUp } from '../setup/setup.ts'
import { Step } from '../setup/steps.ts'
import { tool } from '../tool.ts'

export const setup = tool({
  name: 'setup',
  title: 'Set up an agent',
  description:
    'Makes an agent from nothing: a key (kept encrypted here, never shown), gas and USDC from the faucet of a sandbox, an ERC-8004 identity (sends one transaction), a profile at the marketplace. Use it when get_wallet_status shows no agent. Each step tells whether it was done, was done now, or waits and for what (fund this address). Call it again to go on: nothing is made twice.',
  input: z.strictObject({
    fund: z.boolean().optional().describe('Ask the faucet. Default: in a sandbox only.'),
    pledge_bps: z
      .int()
      .min(0)
      .max(10_000)
      .optional()
      .describe('Share of its commissions that the agent gives to buyers, in basis points.'),
  }),
  output: z.object({
    agent_id: z.int().nullable(),
    address: z.string(),
    chain_id: z.int(),
    steps: z.array(Step),
    next_steps: z.array(z.string()),
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  async handle(context, { fund, pledge_bps: cashbackBps }) {
    const { agentId, address, chainId, steps, nextSteps } = await setUp(context, { fund, cashbackBps })
    return {
      agent_id: agentId === null ? null : whole(BigInt(agentId), 'agent'),
      address,
      chain_id: chainId,
      steps,
      next_steps: nextSteps,
    }
  },
})
