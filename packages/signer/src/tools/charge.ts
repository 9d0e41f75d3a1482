import { Attribution } from '@referrer/protocol'
import type { Address, Hash } from 'viem'
import { z } from 'zod'
import { idText } from '../fields.ts'
import { signTransfer } from '../sign-commitment.ts'
import { tool } from '../tool.ts'
import { SIGNS, SignedOutput } from './sign.ts'

export const signCharge = tool({
  name: 'sign_charge_commitment',
  title: 'Sign a ChargeCommitment',
  description:
    'Signs that a plain USDC transfer to the split router pays for a ref link; normally use pay_for_product. Next: POST {facilitator}/mpp/charge with the signature as buyerSignature and the same txHash, attributionToken, buyerAgentId, chainId.',
  details: `The key of buyerAgentId must be that of the wallet that made the transfer. Leave buyerAgentId out here and there for a purchase in no agent's name. Errors: "no key for agent N", "compute digest: …" for malformed fields, "sign: …" when the key cannot sign. A refusal of /mpp/charge with "take_back": the money is in the router, and take_back_payment gets it back.`,
  input: z.strictObject({
    txHash: z.string().describe('Of the transfer.'),
    attributionToken: z.string().min(1).describe('What follows /r/ in the ref link.'),
    buyerAgentId: idText('The agent that buys.').optional(),
    chainId: z.int(),
    splitRouterAddr: z.string(),
  }),
  output: SignedOutput,
  annotations: SIGNS,
  async handle({ config: { keys } }, { txHash, attributionToken, buyerAgentId, chainId, splitRouterAddr }) {
    const isAgent = buyerAgentId !== undefined && buyerAgentId !== String(Attribution.AGENTLESS_BUYER_ID)
    return signTransfer(isAgent ? keys.ofAgent(buyerAgentId) : keys.ofNoAgent(), {
      chainId,
      splitRouter: splitRouterAddr as Address,
      txHash: txHash as Hash,
      token: attributionToken,
      buyerAgentId,
    })
  },
})
