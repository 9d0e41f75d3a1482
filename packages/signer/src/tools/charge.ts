import { Attribution, AttributionToken, Commitment } from '@referrer/protocol'
import type { Address, Hash } from 'viem'
import { z } from 'zod'
import { idText } from '../fields.ts'
import { orFail, signCommitment } from '../sign-commitment.ts'
import { tool } from '../tool.ts'
import { SIGNS, SignedOutput } from './sign.ts'

export const signCharge = tool({
  name: 'sign_charge_commitment',
  title: 'Sign a ChargeCommitment',
  description:
    'Only for a purchase paid by a plain USDC transfer to the split router; normally use pay_for_product. Signs that the transfer pays for a ref link. Next: POST {facilitator}/mpp/charge with the signature as buyerSignature and the same txHash, attributionToken, buyerAgentId and chainId.',
  details: `The key of buyerAgentId must be that of the wallet that made the transfer. Leave buyerAgentId out here and there for a purchase in no agent's name. Errors: "no key for agent N", "compute digest: …" for malformed fields, "sign: …" when the key cannot sign.`,
  input: z.strictObject({
    txHash: z.string().describe('The transaction of the transfer: 0x and 64 hex digits.'),
    attributionToken: z.string().min(1).describe('The token of the ref link: what follows /r/.'),
    buyerAgentId: idText('The agent that buys.').optional(),
    chainId: z.int().describe('The chain of the transfer; never 0.'),
    splitRouterAddr: z.string().describe('The split router that the transfer went to.'),
  }),
  output: SignedOutput,
  annotations: SIGNS,
  async handle({ config: { keys } }, { txHash, attributionToken, buyerAgentId, chainId, splitRouterAddr }) {
    const agentless = String(Attribution.AGENTLESS_BUYER_ID)
    const isAgent = buyerAgentId !== undefined && buyerAgentId !== agentless
    const account = isAgent ? keys.ofAgent(buyerAgentId) : keys.ofNoAgent()
    const commitment = orFail('compute digest', () =>
      Commitment.from('ChargeCommitment', {
        chainId,
        splitRouter: splitRouterAddr as Address,
        message: {
          txHash: txHash as Hash,
          tokenHash: AttributionToken.tokenHash(attributionToken),
          buyerAgentId: buyerAgentId ?? agentless,
          payer: account.address,
        },
      }),
    )
    return signCommitment(account, commitment)
  },
})
