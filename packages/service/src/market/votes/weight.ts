import { BASE_RATES, PRODUCT_TYPES, sizeOf, voteWeight } from '@referrer/ranking'
import { type Address, isAddressEqual } from 'viem'
import type { Config } from '../../kit/config.ts'
import { hex } from '../../kit/json-values.ts'
import type { VotablePurchase } from './store.ts'

/**
 * The final weight of a qualifying vote, in millionths, from the buyer's rank and the size of the purchase. It is 0 when the owner of the
 * buyer or of the author also owns the merchant, so that merchants cannot raise the ranks of reviewers of their own products.
 */
export function weightOf(
  { fullCommission }: Pick<Config, 'fullCommission'>,
  purchase: VotablePurchase,
  owners: readonly [buyer: Address, author: Address],
): number {
  const { merchant_owner, is_buyer_flagged, product_type, commission, buyer_rank } = purchase
  const isOfMerchant = owners.some((owner) => merchant_owner && isAddressEqual(owner, hex(merchant_owner)))
  if (is_buyer_flagged || isOfMerchant) return 0
  const baseRate = BASE_RATES[PRODUCT_TYPES[product_type] ?? 'repeat']
  return voteWeight(buyer_rank ?? baseRate, sizeOf(commission, fullCommission))
}
