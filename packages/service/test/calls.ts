// Calls of the market's contracts, ready to be signed and mined.
import type { Purchase } from '@referrer/contracts/local'
import { Attribution, Commitment, ContentHash } from '@referrer/protocol'
import {
  addressRegistryAbi,
  commissionEscrowAbi,
  identityRegistryAbi,
  merchantRegistryAbi,
  reputationRegistryAbi,
  reviewRegistryAbi,
  sandboxUSDCAbi,
  splitRouterAbi,
} from '@referrer/protocol/abi'
import { type Abi, encodeFunctionData, type Hex, type LocalAccount, numberToHex } from 'viem'
import type { Call, ForkingChain } from './forking-chain.ts'
import type { Escrow } from './world.ts'

type ContractName = keyof ForkingChain['market']['addresses']
type Chain = Pick<ForkingChain, 'chainId' | 'market'>

const ABIS: Record<ContractName, Abi> = {
  AddressRegistry: addressRegistryAbi,
  IdentityRegistry: identityRegistryAbi,
  MerchantRegistry: merchantRegistryAbi,
  ReviewRegistry: reviewRegistryAbi,
  CommissionEscrow: commissionEscrowAbi,
  SplitRouter: splitRouterAbi,
  USDC: sandboxUSDCAbi,
  ReputationRegistry: reputationRegistryAbi,
}

const FIVE_MINUTES = 300n

export function call(
  { market }: Chain,
  account: LocalAccount,
  contract: ContractName,
  functionName: string,
  args: unknown[],
): Call {
  const data = encodeFunctionData({ abi: ABIS[contract], functionName, args })
  const to = market.addresses[contract]
  if (!to) throw new Error(`the market has no ${contract}`)
  return { account, to, data }
}

export interface NewReview {
  agentId: bigint
  merchantId: bigint
  productId: Hex
  content: string
  proofId: bigint
}

/** On an approved proof: the agent's owner signs, the publisher sends. */
export async function publishWithProof(
  chain: Chain,
  owner: LocalAccount,
  { proofId, content, ...about }: NewReview,
  now: bigint,
): Promise<Call> {
  const { addresses, accounts } = chain.market
  const message = {
    ...about,
    contentHash: ContentHash.contentHash({ ...about, content }),
    nonce: numberToHex(proofId, { size: 32 }),
    expiry: Commitment.expiryAt(Number(now)),
  }
  const commitment = Commitment.from('ReviewCommitment', {
    chainId: chain.chainId,
    reviewRegistry: addresses.ReviewRegistry,
    message,
  })
  const signature = await owner.signTypedData(commitment as Parameters<typeof owner.signTypedData>[0])
  const signed = { ...message, nonce: proofId, expiry: BigInt(message.expiry) }
  return call(chain, accounts.publisher, 'ReviewRegistry', 'publishWithProof', [proofId, signed, signature])
}

/** The new wallet signs, the agent's owner sends. */
export async function setAgentWallet(
  chain: Chain,
  owner: LocalAccount,
  { agentId, wallet }: { agentId: bigint; wallet: LocalAccount },
  now: bigint,
): Promise<Call> {
  const deadline = now + FIVE_MINUTES
  const signature = await wallet.signTypedData({
    domain: {
      name: 'ERC8004IdentityRegistry',
      version: '1',
      chainId: chain.chainId,
      verifyingContract: chain.market.addresses.IdentityRegistry,
    },
    types: {
      AgentWalletSet: [
        { name: 'agentId', type: 'uint256' },
        { name: 'newWallet', type: 'address' },
        { name: 'owner', type: 'address' },
        { name: 'deadline', type: 'uint256' },
      ],
    },
    primaryType: 'AgentWalletSet',
    message: { agentId, newWallet: wallet.address, owner: owner.address, deadline },
  })
  const args = [agentId, wallet.address, deadline, signature]
  return call(chain, owner, 'IdentityRegistry', 'setAgentWallet', args)
}

/** Settles one purchase, or several in a batch. */
export function settle(chain: Chain, purchases: Purchase[]): Call {
  const { settler } = chain.market.accounts
  const [only] = purchases
  return purchases.length === 1
    ? call(chain, settler, 'SplitRouter', 'settle', [only])
    : call(chain, settler, 'SplitRouter', 'settleBatch', [purchases])
}

/** The terms of an escrow as its event published them, in the form that the contract takes. */
export const termsOf = (escrow: Escrow) => ({
  escrowId: escrow.escrow_id,
  payer: escrow.payer,
  nonce: escrow.nonce,
  merchantId: escrow.merchant_id,
  productId: escrow.product_id,
  reviewId: escrow.review_id,
  reviewerAgentId: escrow.reviewer_agent_id,
  buyerAgentId: escrow.buyer_agent_id ?? Attribution.AGENTLESS_BUYER_ID,
  heldBack: escrow.held_back,
  cashback: escrow.cashback,
  windowEnd: escrow.window_end,
})
