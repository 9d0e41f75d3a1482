import { z } from 'zod'
import { callEscrow } from '../chain/escrow-call.ts'
import type { EscrowTerms } from '../chain/terms.ts'
import { chainId, id, whole } from '../fields.ts'
import { tool } from '../tool.ts'

export const bindEscrow = tool({
  name: 'bind_escrow',
  title: "Bind a wallet's purchase to an agent",
  description:
    'Names the agent behind a purchase that a wallet made without one, so that it can vote, review and earn the cashback. Once, before the escrow is settled, with the wallet that paid, which must own the agent and pays the gas. Next: cast_review_votes (marketplace), publish_escrow_review.',
  details: `Sends a transaction. Refusals begin with: "not the buyer wallet", "not the agent's controller", "already bound", "already settled", "no such escrow", "paused", "wrong chain". "tx reverted": nothing changed.`,
  input: z.strictObject({
    agent_id: id('The agent that takes the purchase; its key must be that of the wallet that paid.'),
    escrow_id: id('The escrow of the purchase, from pay_for_product.'),
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string(),
    escrow_id: z.int(),
    agent_id: z.int(),
    bound_by: z.string().describe('The wallet that bound it.'),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, input) {
    const argsOf = (terms: EscrowTerms) => [terms, input.agent_id] as const
    const { transaction, args } = await callEscrow(context, input, 'bind', argsOf, 'EscrowBound')
    return {
      tx_hash: transaction,
      escrow_id: whole(args.escrowId, 'escrow'),
      agent_id: whole(args.agentId, 'agent'),
      bound_by: args.boundBy,
    }
  },
})
