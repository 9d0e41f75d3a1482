import type { TermsRow } from '../../market/escrows/store.ts'

export type Kind = 'release' | 'settle'

/** An escrow about which the oracle may now decide. */
export type Undecided = TermsRow & {
  /** The number of earlier attempts. */
  attempts: number
  /** The internal id of the buyer's review; null: it is not published. */
  buyer_review: bigint | null
  /** Whether the review that led to the purchase pledges cashback. */
  is_pledged: boolean
}

export interface Decision {
  escrow: Undecided
  kind: Kind
  contradicted: boolean
  cashbackEarned: boolean
  inputs: Record<string, unknown>
}
