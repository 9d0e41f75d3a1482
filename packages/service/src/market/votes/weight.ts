import { BASE_RATES, PRODUCT_TYPES, sizeOf, trustedSize, voteWeight } from '@referrer/ranking'
import { type Address, isAddressEqual } from 'viem'
import type { Config } from '../../kit/config.ts'
import { hex } from '../../kit/json-values.ts'
import { type Standings, trustOf } from './standings.ts'
import type { VotablePurchase } from './store.ts'

/** What a vote is worth to the author, fixed when it is cast. */
export interface Worth {
  /** In millionths, from the buyer's rank, the size of the purchase and how far that is trusted. */
  weight: number
  /** Whether the money of the purchase speaks for the author. */
  supports: boolean
}

export const WORTHLESS: Worth = { weight: 0, supports: false }

/**
 * The worth of a qualifying vote. It is nothing when the owner of the buyer or of the
 * author also owns the merchant, so that merchants cannot raise the ranks of reviewers of their own products.
 */
export function worthOf(
  { fullCommission }: Pick<Config, 'fullCommission'>,
  purchase: VotablePurchase,
  standings: Standings,
  owners: readonly [buyer: Address, author: Address],
): Worth {
  const { merchant_owner, is_buyer_flagged, product_type, commission, buyer_rank } = purchase
  const isOfMerchant = owners.some((owner) => merchant_owner && isAddressEqual(owner, hex(merchant_owner)))
  if (is_buyer_flagged || isOfMerchant) return WORTHLESS
  const baseRate = BASE_RATES[PRODUCT_TYPES[product_type] ?? 'repeat']
  const size = trustedSize(sizeOf(commission, fullCommission), trustOf(standings))
  return { weight: voteWeight(buyer_rank ?? baseRate, size), supports: true }
}
