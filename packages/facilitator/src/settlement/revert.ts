// Why the chain refuses a payment, in words.
import { commissionEscrowAbi, merchantRegistryAbi, splitRouterAbi } from '@referrer/protocol/abi'
import { type Abi, decodeErrorResult, type Hex } from 'viem'

export const errors = [...splitRouterAbi, ...merchantRegistryAbi, ...commissionEscrowAbi].filter(
  ({ type }) => type === 'error',
) as Abi

/** Permanent reverts: the same payment can never succeed, so money that has already arrived goes back. */
const FOR_GOOD: Record<string, string> = {
  MerchantNotActive: 'the merchant is not active',
  ProductNotActive: 'the product is not active',
  ProductNotListed: 'the product is not listed by this merchant',
  PriceTooLow: "the price is below the product's minimum",
  PriceTooHigh: 'the price is too high to be split',
  ZeroPrice: 'the price is zero',
  ReviewerNotFound: 'the reviewer does not exist',
  SelfReferral: 'the buyer is paid as the reviewer',
  CashbackTooHigh: 'the cashback of the link is out of bounds',
  FinishTooLate: 'the authorisation has ended too long ago',
  MultiplierOutOfBounds: 'the commission of the link is out of bounds',
}
const NO_SETTLER = 'this facilitator may not settle; its operator has to grant its role'
const FOR_NOW: Record<string, string> = {
  RegistryUnreadable: 'the identity registry does not answer; try again later',
  EnforcedPause: 'payments are paused; try again later',
  AccessControlUnauthorizedAccount: NO_SETTLER,
  // Only an account without the settler's role needs a nonce that commits to the purchase.
  NonceNotCommitted: NO_SETTLER,
  PaymentAlreadySplit: 'authorization already used',
  PaymentAlreadyRefunded: 'the payment went back to its payer',
  NotEnoughUnsplit: 'the money is not in the router',
}

export interface Revert {
  /** The name of a custom error. */
  name: string | undefined
  message: string
  isForGood: boolean
}

export function explainRevert(data: Hex): Revert {
  try {
    const { errorName: name, args } = decodeErrorResult({ abi: errors, data })
    const known = FOR_GOOD[name] ?? FOR_NOW[name]
    const said = name === 'Error' ? String(args?.[0]) : undefined
    const message = known ?? (said ? `the token refused it: ${said}` : `the split was refused: ${name}`)
    return { name, message, isForGood: name in FOR_GOOD }
  } catch {
    return { name: undefined, message: 'the transaction reverted', isForGood: false }
  }
}
