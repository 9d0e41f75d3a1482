import { z } from 'zod'
import { callEscrow } from '../chain/escrow-call.ts'
import type { EscrowTerms } from '../chain/terms.ts'
import { chainId, id, USDC_UNITS, whole } from '../fields.ts'
import { tool } from '../tool.ts'

export const settleFallback = tool({
  name: 'trigger_settle_fallback',
  title: 'Settle an escrow that was left lying',
  description:
    "Settles an escrow that the marketplace left unsettled for 10 days after its window: the held-back commission goes to the treasury, the cashback to the reviewer. It cannot be undone and the reviewer loses: wait for the marketplace unless you know why not. The agent's wallet pays the gas.",
  details:
    'Anyone may do it. Refusals begin with: "too early" (with the date from which it works), "already settled", "no such escrow", "paused", "wrong chain". "tx reverted": nothing changed.',
  input: z.strictObject({
    agent_id: id('The agent whose wallet sends the transaction.'),
    escrow_id: id('The escrow.'),
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string(),
    escrow_id: z.int(),
    settled_by: z.string(),
    held_back_to_treasury: z.int().describe(`In ${USDC_UNITS}.`),
    cashback_to_reviewer: z.int().describe(`In ${USDC_UNITS}.`),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, input) {
    const argsOf = (terms: EscrowTerms) => [terms] as const
    const { transaction, args } = await callEscrow(context, input, 'settleFallback', argsOf, 'EscrowSettled')
    return {
      tx_hash: transaction,
      escrow_id: whole(args.escrowId, 'escrow'),
      settled_by: args.settledBy,
      held_back_to_treasury: whole(args.heldBackToTreasury, 'amount'),
      cashback_to_reviewer: whole(args.cashbackToReviewer, 'amount'),
    }
  },
})
