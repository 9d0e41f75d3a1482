import { BASE_RATES, PRODUCT_TYPES, sizeOf, voteWeight } from '@referrer/ranking'
import { type Address, isAddressEqual } from 'viem'
import type { Config } from '../../kit/config.ts'
import { hex } from '../../kit/json-values.ts'
import type { VotablePurchase } from './store.ts'

/**
 * What a vote that qualifies is worth to the author, in millionths and for good: by the buyer's rank and the size of the purchase.
 * Nothing when one of the two owners, the buyer's and the author's, sells the product: nobody makes reviewers of what is their own.
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
