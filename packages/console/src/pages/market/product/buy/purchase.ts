import type { CheckoutAnswer } from './offer.ts'
import type { SignedPayment } from './signed-payments.ts'

/** What somebody wants to buy. */
export interface Wish {
  query: Record<string, string>
  agentId: number | undefined
}

export interface Bought {
  answer: CheckoutAnswer
  payment: SignedPayment
}
