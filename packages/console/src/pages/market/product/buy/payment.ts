// Signs a payment as the official client does, keeps it, and finds out what became of it.
import { x402Client } from '@x402/core/client'
import { encodePaymentSignatureHeader } from '@x402/core/http'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import { type Address, type Hex, type PublicClient, parseAbi } from 'viem'
import type { Connected } from '../../../../wallet/config.ts'
import type { Market, Offer } from './offer.ts'
import type { SignedPayment } from './signed-payments.ts'

const ESCROW = parseAbi([
  'function escrowOf(address payer, bytes32 nonce) view returns (uint256 escrowId, uint8 state, bool bound, bool cashbackReleased)',
])
const ROUTER = parseAbi(['function refunded(address payer, bytes32 nonce) view returns (bool)'])
const TOKEN = parseAbi(['function authorizationState(address authorizer, bytes32 nonce) view returns (bool)'])

interface Wish {
  token: string
  query: Record<string, string>
  /** The agent that the purchase is for. */
  agentId: number | undefined
}

/** Asks the wallet for the one signature: EIP-3009, of exactly the offer that was shown. */
export async function sign(connected: Connected, offer: Offer, wish: Wish): Promise<SignedPayment> {
  const { address, chainId, wallet } = connected
  const network = `eip155:${chainId}` as const
  const { asset, amount } = offer.requirements
  const signer = {
    address,
    signTypedData: (data: object) =>
      wallet.signTypedData({ account: address, ...data } as Parameters<typeof wallet.signTypedData>[0]),
  }
  const client = x402Client.fromConfig({
    schemes: [{ network, client: new ExactEvmScheme(signer) }],
    spendControls: { allowedAssets: [{ network, asset, maxAmountPerPayment: amount }] },
  })
  const payload = await client.createPaymentPayload({
    ...offer.required,
    accepts: [offer.requirements],
    extensions: {
      ...offer.required.extensions,
      attributionToken: wish.token,
      ...(wish.agentId !== undefined && { buyerAgentId: String(wish.agentId) }),
    },
  })
  const { authorization } = payload.payload as { authorization: { nonce: Hex; validBefore: string } }
  return {
    chainId,
    payer: address,
    token: wish.token,
    query: wish.query,
    amount: String(offer.amount),
    nonce: authorization.nonce,
    validBefore: Number(authorization.validBefore),
    header: encodePaymentSignatureHeader(payload),
  }
}

export interface PaymentState {
  /** The purchase on the chain; undefined: there is none. */
  escrowId: number | undefined
  /** In the market's contract, and not split. */
  isTaken: boolean
  /** Its money was taken back. */
  isBack: boolean
  /** Neither taken nor to be taken any more. */
  isVoid: boolean
}

/** What the chain knows of a payment. */
export async function readPaymentState(
  reads: PublicClient,
  market: Pick<Market, 'escrow' | 'router' | 'usdc'>,
  payment: SignedPayment,
): Promise<PaymentState> {
  const args = [payment.payer as Address, payment.nonce as Hex] as const
  // The time first: what was not taken before it cannot be taken later.
  const { timestamp } = await reads.getBlock()
  const [[escrowId], isUsed, isBack] = await Promise.all([
    reads.readContract({ address: market.escrow, abi: ESCROW, functionName: 'escrowOf', args }),
    reads.readContract({ address: market.usdc, abi: TOKEN, functionName: 'authorizationState', args }),
    reads.readContract({ address: market.router, abi: ROUTER, functionName: 'refunded', args }),
  ])
  // By the chain's clock only: that of the browser may be wrong, and the chain would still take what it calls expired.
  const isExpired = Number(timestamp) > payment.validBefore
  return {
    escrowId: escrowId === 0n ? undefined : Number(escrowId),
    isTaken: isUsed && escrowId === 0n && !isBack,
    isBack,
    isVoid: isExpired && !isUsed,
  }
}
