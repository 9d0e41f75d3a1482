// Purchases through ref links, and the shares of a price, computed independently of the product's code.
import type { EscrowDeposit } from '@referrer/contracts/local'
import type { Hex, LocalAccount } from 'viem'
import { must } from './caller.ts'
import { buy, type TestMarket } from './market.ts'

/** The contents of a ref link's token. */
export interface LinkTerms {
  merchantEndpoint: string
  merchantId: number
  productId: Hex
  reviewId: number
  reviewerAgentId: number
  cashbackOfCommissionBps: number
  commissionMultiplierBps: number
}

const SIGNATURE_BYTES = 64

/** The terms of a review's link, by its on-chain id. */
export async function linkTerms(
  { call }: Pick<TestMarket, 'call'>,
  reviewId: bigint | number,
): Promise<LinkTerms> {
  const { ref_link } = await must(call('GET', `/v1/review/${reviewId}`))
  const token = Buffer.from(String(ref_link).split('/').at(-1) ?? '', 'base64url')
  return JSON.parse(token.subarray(0, -SIGNATURE_BYTES).toString())
}

/** Buys through a review's link on its terms; `multiplier` replaces that of the link, as the facilitator does. */
export async function buyThrough(
  m: TestMarket,
  payer: LocalAccount,
  reviewId: bigint | number,
  more: { price: bigint; buyerAgentId?: bigint; commissionMultiplierBps?: number },
): Promise<EscrowDeposit> {
  const terms = await linkTerms(m, reviewId)
  return buy(m, payer, {
    product: { merchantId: BigInt(terms.merchantId), productId: terms.productId },
    reviewId: BigInt(terms.reviewId),
    reviewerAgentId: BigInt(terms.reviewerAgentId),
    cashbackOfCommissionBps: terms.cashbackOfCommissionBps,
    commissionMultiplierBps: terms.commissionMultiplierBps,
    ...more,
  })
}

export interface Shares {
  merchant: bigint
  fee: bigint
  immediate: bigint
  heldBack: bigint
  cashback: bigint
}

/** The shares of a price, to the unit; every part is rounded down, and the last one gets the rest. */
export function sharesOf(
  price: bigint,
  {
    commissionBps,
    multiplierBps,
    cashbackBps,
  }: Record<`${'commission' | 'multiplier' | 'cashback'}Bps`, bigint>,
): Shares {
  const commission = (price * commissionBps * multiplierBps) / 100_000_000n
  const fee = commission / 10n
  const cashback = (commission * cashbackBps) / 10_000n
  const ofReviewer = commission - fee - cashback
  const heldBack = ofReviewer / 2n
  return { merchant: price - commission, fee, immediate: ofReviewer - heldBack, heldBack, cashback }
}
