import type { Hash } from 'viem'

export type RefusalReason = 'invalid_payment' | 'self_referral' | 'settle_failed'

export interface RefusalDetails {
  /** Set where nothing was sent to the chain, so that sending the same payment again is safe. */
  retryable?: boolean
  /** The transaction that used the authorisation before, or that gave the money back. */
  transaction?: Hash | undefined
  /** It was sent and its outcome is not known yet: ask for the settlement before paying again. */
  pending?: boolean
  cause?: unknown
}

/** A payment is not settled. The message tells the merchant and the buyer why, and what to do. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly reason: RefusalReason
  readonly retryable: boolean
  readonly transaction: Hash | undefined
  readonly pending: boolean

  constructor(reason: RefusalReason, message: string, details: RefusalDetails = {}) {
    super(message, { cause: details.cause })
    this.reason = reason
    this.retryable = details.retryable ?? false
    this.transaction = details.transaction
    this.pending = details.pending ?? false
  }
}

export const invalidPayment = (message: string, details?: RefusalDetails) =>
  new Refused('invalid_payment', message, details)

/** `transaction`: what it was used in, where that is known. */
export const alreadyUsed = (transaction: Hash | undefined) =>
  invalidPayment('authorization already used', { transaction })
