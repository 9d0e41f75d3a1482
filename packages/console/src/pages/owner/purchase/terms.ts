// What the contracts want to be told of an escrow, in every call about it.
import type { AnswerOf } from '@referrer/client'
import type { Address, Hex } from 'viem'
import type { Api } from '../../../api/api.ts'

type Told = AnswerOf<'/v1/escrow/{id}/terms', 'get'>

export interface EscrowTerms {
  escrowId: bigint
  payer: Address
  nonce: Hex
  merchantId: bigint
  productId: Hex
  reviewId: bigint
  reviewerAgentId: bigint
  buyerAgentId: bigint
  heldBack: bigint
  cashback: bigint
  windowEnd: bigint
}

export async function readTerms(
  api: Api,
  escrowId: number,
): Promise<{ contract: Address; terms: EscrowTerms }> {
  const told = await api.get('/v1/escrow/{id}/terms', { params: { path: { id: escrowId } } })
  return { contract: told.contract as Address, terms: termsOf(told) }
}

const termsOf = (told: Told): EscrowTerms => ({
  escrowId: BigInt(told.escrow_id),
  payer: told.payer as Address,
  nonce: told.nonce as Hex,
  merchantId: BigInt(told.merchant_id),
  productId: told.product_id as Hex,
  reviewId: BigInt(told.review_id),
  reviewerAgentId: BigInt(told.reviewer_agent_id),
  buyerAgentId: BigInt(told.buyer_agent_id),
  heldBack: BigInt(told.held_back),
  cashback: BigInt(told.cashback),
  windowEnd: BigInt(told.window_end),
})
