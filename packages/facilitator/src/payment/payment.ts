import type { Attribution, X402 } from '@referrer/protocol'
import type { Address, Hash, Hex } from 'viem'
import type { Deployment } from '../onchain/wallet-deployment.ts'

/** An EIP-3009 authorisation as the split router takes it. Kind 0 is `ReceiveWithAuthorization`, 1 is `TransferWithAuthorization`. */
export interface RouterAuthorization {
  /** Of a contract wallet it is the likely one until the wallet is asked. */
  kind: 0 | 1
  from: Address
  value: bigint
  validAfter: bigint
  validBefore: bigint
  nonce: Hex
  signature: Hex
}

/** A payment that is valid as far as can be checked without the chain. */
export interface Payment {
  chainId: number
  network: X402.Network.Network
  authorization: RouterAuthorization
  attribution: Attribution.Attribution
  /** Whether the nonce commits to the terms of the link. */
  isCommitted: boolean
  /** Whether the signature is known to be the payer's; that of a contract wallet only a node can check. */
  isVerified: boolean
  /** Of a payer that is not deployed yet. */
  deployment: Deployment | undefined
  /** Equal for copies of one request; differs for another request with the same authorisation. */
  digest: Hash
}

/** Payer and nonce identify a payment on its chain. Lower case. */
export interface PaymentKey {
  chainId: number
  payer: Address
  nonce: Hex
}

/** A purchase, and the payment that it is to be paid with. */
export interface PurchaseId {
  key: PaymentKey
  digest: Hash
}

export function keyOf({
  chainId,
  authorization: { from, nonce },
}: Pick<Payment, 'chainId' | 'authorization'>): PaymentKey {
  return { chainId, payer: from.toLowerCase() as Address, nonce: nonce.toLowerCase() as Hex }
}

export const keyText = ({ chainId, payer, nonce }: PaymentKey): string => `${chainId}:${payer}:${nonce}`
