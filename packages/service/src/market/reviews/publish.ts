// Publication of signed reviews by the service's own account.
import { enqueueTransaction } from '@referrer/chain'
import type { Transaction } from '@referrer/database'
import { currentOrigin } from '@referrer/process'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, hexToBigInt } from 'viem'
import type { Chain, Context } from '../../kit/context.ts'
import { MarketError } from '../../kit/market-error.ts'
import type { Signed, Terms } from '../commitments/operations.ts'

export function requirePublisher({ config: { publisher } }: Pick<Context, 'config'>): Address {
  if (publisher) return publisher.address
  throw new MarketError(
    'not found',
    'publishing is not enabled here: this deployment has no key that publishes; ask its operator',
  )
}

export interface Publication {
  proofId: bigint
  /** Number of the attempt to publish with this proof, from 1. */
  attempt: number
  internalId: bigint
  terms: Terms<'ReviewCommitment'>
  signed: Signed
}

/** Gas limit. A normal publication takes 165,000 gas; a contract wallet also verifies the signature, at our expense. */
const MOST_GAS = 600_000n

/** Adds the transaction to the sender's outbox and returns its id. */
export function enqueuePublication(
  tx: Transaction,
  { config: { chainId, contracts } }: Chain,
  from: Address,
  { proofId, attempt, internalId, terms, signed }: Publication,
): Promise<bigint> {
  const commitment = {
    agentId: BigInt(terms.agentId),
    merchantId: BigInt(terms.merchantId),
    productId: terms.productId,
    contentHash: terms.contentHash,
    nonce: hexToBigInt(signed.nonce),
    expiry: BigInt(signed.expiry),
  }
  return enqueueTransaction(tx, {
    chainId,
    from,
    to: contracts.ReviewRegistry,
    data: encodeFunctionData({
      abi: reviewRegistryAbi,
      functionName: 'publishWithProof',
      args: [proofId, commitment, signed.signature],
    }),
    maxGas: MOST_GAS,
    key: `review/${proofId}/${attempt}`,
    label: `publish review ${internalId}`,
    origin: currentOrigin(),
  })
}
