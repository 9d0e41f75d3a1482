import { RefLink } from '@referrer/protocol'
import type { Hash } from 'viem'
import { z } from 'zod'
import { chainId, idText, USDC_UNITS, whole } from '../fields.ts'
import { takeBack } from '../purchase/take-back.ts'
import { tool } from '../tool.ts'

export const takeBackPayment = tool({
  name: 'take_back_payment',
  title: 'Take a wrong transfer back',
  description:
    'Only for a plain USDC transfer to the split router that cannot pay for its ref_link (of a wrong amount, say): the wallet that made it gets the money back, and pays the gas. A right one is charged: it buys the product.',
  details: `tx_hash is the transaction of the transfer, ref_link what it was to pay for. Asks the facilitator (POST /mpp/charge) for the call, checks that it goes to the split router of the address registry and gives this transfer to this wallet, and sends it. The key of agent_id must be that of the wallet that made the transfer. Refusals begin with: "too early" (with the time from which it works), "not taken back" (the transfer has just paid for the product), "nothing can be taken back" (with what the facilitator says: taken back before, used before, not confirmed yet), "wrong chain". "tx reverted": nothing changed.`,
  input: z.strictObject({
    tx_hash: z.string().regex(/^0x[0-9a-fA-F]{64}$/, 'must be the hash of the transfer'),
    ref_link: z.string(),
    agent_id: idText('The agent that was to buy; left out: none.').optional(),
    chain_id: chainId,
  }),
  output: z.object({
    tx_hash: z.string(),
    amount: z.int().describe(`What came back, in ${USDC_UNITS}.`),
  }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
  async handle(context, { tx_hash, ref_link, agent_id, chain_id }) {
    const { token } = RefLink.parse(ref_link)
    const { transaction, amount } = await takeBack(context, {
      txHash: tx_hash as Hash,
      token,
      agentId: agent_id,
      wanted: chain_id,
    })
    return { tx_hash: transaction, amount: whole(amount, 'amount') }
  },
})
