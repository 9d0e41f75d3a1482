import type { TermsRow } from '../../market/escrows/store.ts'

export type Kind = 'release' | 'settle'

/** An escrow about which something of a kind may be decided now. */
export type Undecided = TermsRow & {
  /** How often it was decided before, in vain. */
  attempts: number
  /** The record of the buyer's review; null: it is not published. */
  buyer_review: bigint | null
  /** Whether the review that led to the purchase pledges its cashback. */
  is_pledged: boolean
}

export interface Decision {
  escrow: Undecided
  kind: Kind
  contradicted: boolean
  cashbackEarned: boolean
  inputs: Record<string, unknown>
}
