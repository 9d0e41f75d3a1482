// Finds the payer of a charge: of the accounts that paid in the transaction, the one that signed the commitment.
import { AttributionToken, Commitment } from '@referrer/protocol'
import type { Address, Hash, Hex } from 'viem'
import type { Context } from '../context.ts'
import { probe } from '../onchain/probe.ts'
import { askWallet, CHECK_GAS, isAccepted } from '../onchain/wallet-signature.ts'
import { invalidPayment } from '../payment/refused.ts'
import { plainSignature, recoverSigner } from '../payment/signature.ts'
import type { ChargeRequest } from './request.ts'
import type { Sent } from './transfers.ts'

/** As many signature checks as fit into one `eth_call`. */
const MOST_PAYERS = 64

export interface Charged extends Sent {
  /** In the form that the router takes. */
  signature: Hex
}

export async function findPayer(
  context: Pick<Context, 'recovery'>,
  request: ChargeRequest,
  sent: Sent[],
): Promise<Charged> {
  const { chain, txHash } = request
  if (sent.length === 0) {
    throw invalidPayment(
      `transaction ${txHash} moved no USDC to ${chain.contracts.SplitRouter}: send the exact price there first`,
    )
  }
  if (sent.length > MOST_PAYERS) {
    throw invalidPayment(
      `more than ${MOST_PAYERS} accounts paid in transaction ${txHash}: pay in a transaction with fewer`,
    )
  }
  const plain = plainSignature(request.signature)
  if (plain) {
    for (const each of sent) {
      const signer = await recoverSigner(context, digestOf(request, each.payer), plain)
      if (signer === each.payer) return { ...each, signature: plain }
    }
  }
  const wallet = await findWallet(request, sent)
  if (wallet) return { ...wallet, signature: request.signature }
  throw invalidPayment(
    `buyerSignature is not by who sent the transfer: sign the ChargeCommitment of transaction ${txHash}, this attributionToken and buyerAgentId with the key of ${sent.map(({ payer }) => payer).join(' or ')}`,
  )
}

/** What the payer signs. */
function digestOf({ chain, txHash, token, buyerAgentId }: ChargeRequest, payer: Address): Hash {
  return Commitment.digest(
    Commitment.from('ChargeCommitment', {
      chainId: chain.chainId,
      splitRouter: chain.contracts.SplitRouter,
      message: { txHash, tokenHash: AttributionToken.tokenHash(token), buyerAgentId, payer },
    }),
  )
}

/** The contract wallet that takes the signature for its own. */
async function findWallet(request: ChargeRequest, sent: Sent[]): Promise<Sent | undefined> {
  const { chain, signature } = request
  const calls = sent.map(({ payer }) => askWallet(payer, CHECK_GAS, digestOf(request, payer), signature))
  const { outcomes } = await probe(chain, chain.relayerPool.available()[0], calls)
  return sent.find((_, at) => isAccepted(outcomes[at]))
}
