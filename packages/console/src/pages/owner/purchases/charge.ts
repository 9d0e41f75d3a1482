// What a payer signs about a plain transfer to the router: for which ref link it is.
import { Attribution, AttributionToken, Commitment } from '@referrer/protocol'
import type { Address, Hash } from 'viem'
import type { Connected } from '../../../wallet/config.ts'

export interface Asked {
  txHash: string
  /** Of the ref link. */
  token: string
}

/** The body of `POST /mpp/charge`, in no agent's name. */
export async function signed(
  { address, chainId, wallet }: Pick<Connected, 'address' | 'chainId' | 'wallet'>,
  splitRouter: Address,
  { txHash, token }: Asked,
) {
  const message = {
    txHash: txHash as Hash,
    tokenHash: AttributionToken.tokenHash(token),
    buyerAgentId: Attribution.AGENTLESS_BUYER_ID,
    payer: address,
  }
  const commitment = Commitment.from('ChargeCommitment', { chainId, splitRouter, message })
  const buyerSignature = await wallet.signTypedData(
    commitment as unknown as Parameters<typeof wallet.signTypedData>[0],
  )
  return { txHash, attributionToken: token, chainId, buyerSignature }
}
