import type { Address, Hash, Hex } from 'viem'
import type { PurchaseId } from './payment.ts'

export type RefusalReason = 'invalid_payment' | 'self_referral' | 'settle_failed'

/** A call to the router that gives money which arrived there back to its payer. `notBefore` in Unix seconds. */
export interface TakeBack {
  to: Address
  data: Hex
  notBefore: number
}

export interface RefusalDetails {
  /** Set where nothing was sent to the chain, so that sending the same payment again is safe. */
  retryable?: boolean
  /** The transaction that used the authorisation before. */
  transaction?: Hash | undefined
  /** Its outcome is not known yet: ask for the settlement before paying again. */
  pending?: boolean
  /** Until when the authorisation can be used, in Unix seconds. */
  until?: bigint | undefined
  /** The authorisation is used: it moves no money any more. */
  isUsed?: boolean
  /** Of which purchase the price is wrong, which may have been paid before it changed. */
  purchase?: PurchaseId
  /** The money is in the router. */
  takeBack?: TakeBack | undefined
  cause?: unknown
}

/** A payment is not settled. The message tells the merchant and the buyer why, and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reason: RefusalReason
  readonly retryable: boolean
  readonly transaction: Hash | undefined
  readonly pending: boolean
  readonly until: bigint | undefined
  readonly isUsed: boolean
  readonly purchase: PurchaseId | undefined
  readonly takeBack: TakeBack | undefined

  constructor(reason: RefusalReason, message: string, details: RefusalDetails = {}) {
    super(message, { cause: details.cause })
    this.reason = reason
    this.retryable = details.retryable ?? false
    this.transaction = details.transaction
    this.pending = details.pending ?? false
    this.until = details.until
    this.isUsed = details.isUsed ?? false
    this.purchase = details.purchase
    this.takeBack = details.takeBack
  }

  /** The same refusal of a payment whose money is in the router. */
  withTakeBack(takeBack: TakeBack): Refused {
    const { reason, message, retryable, transaction, pending, until, cause } = this
    const from = new Date(takeBack.notBefore * 1_000).toISOString().slice(0, 16)
    const when = takeBack.notBefore === 0 ? 'now' : `from ${from}Z on`
    const told = `${message}; the money is in the router, and its payer takes it back ${when} by the call in take_back`
    return new Refused(reason, told, {
      retryable,
      transaction,
      pending,
      until,
      isUsed: true,
      takeBack,
      cause,
    })
  }
}

export const invalidPayment = (message: string, details?: RefusalDetails) =>
  new Refused('invalid_payment', message, details)

/** Nothing was sent: the same payment may be sent again. */
export const forNow = (message: string, cause?: unknown) =>
  new Refused('settle_failed', message, { retryable: true, cause })

/** `transaction`: what it was used in, where that is known. */
export const alreadyUsed = (transaction: Hash | undefined) =>
  invalidPayment('authorization already used', { transaction, isUsed: true })
