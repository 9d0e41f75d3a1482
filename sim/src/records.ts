import type { Money } from '@referrer/protocol'
import type { ProductType } from '@referrer/ranking'

/** A wallet, identified by a number. */
export type Owner = number

export type Agent = {
  id: number
  owner: Owner
  flagged: boolean
  /** The part of the commission that its links give to buyers. */
  cashbackBps: number
  /** The ranks when the market was last followed. Null: at a cold start. */
  ranks: Record<ProductType, number | null>
}

export type Merchant = { id: number; owner: Owner }

export type Product = {
  id: number
  merchant: Merchant
  type: ProductType
  price: bigint
  commissionBps: number
  reviews: Review[]
}

export type Outcome = 'pending' | 'confirmed' | 'contradicted' | 'disputed' | 'resolved'

export type Review = {
  id: number
  agent: Agent
  /** The author's owner at publication. */
  owner: Owner
  product: Product
  /** In millionths. */
  satisfaction: number
  publishedAt: number
  /** The purchase of a buyer's review; null: the review has an approved proof instead. */
  purchase: Purchase | null
  opinion: { size: number; weight: number } | null
  /** Whether a buyer agrees with the review whose link it followed. */
  agrees: boolean
  outcome: Outcome
  finding: Finding | null
  /** Whether an admin upheld the contradiction after a dispute; null: not decided. */
  upheld: boolean | null
}

export type Finding = {
  id: number
  outcome: 'pending' | 'confirmed' | 'contradicted'
  size: number
  foundAt: number
}

export type Purchase = {
  id: number
  /** The review through whose link it was bought. */
  link: Review
  /** Null: bought without an agent. */
  buyer: Agent | null
  payer: Owner
  product: Product
  price: bigint
  boughtAt: number
  split: Money.Split
  size: number
  /** Whether there was a review to vote on. */
  needsVote: boolean
  /** Whether the buyer voted for an agent of another owner. */
  hasVoted: boolean
  review: Review | null
  isReleased: boolean
  settledAt: number | null
  /** Null: still in escrow. */
  heldBackTo: 'reviewers' | 'treasury' | null
}

export type Vote = {
  ballot: number
  castAt: number
  review: Review
  voter: Agent
  voterOwner: Owner
  purchase: Purchase
  qualifies: boolean
  weight: number
  /** Whether the money of the purchase speaks for the author. */
  supports: boolean
}

/** The operations in order, with everything needed to replay them. */
export type Event = { at: number } & (
  | { what: 'minted'; agent: Agent; owner: Owner }
  | { what: 'transferred'; agent: Agent; owner: Owner }
  | { what: 'flagged'; agent: Agent }
  | { what: 'opened'; merchant: Merchant }
  | { what: 'verified'; merchant: Merchant }
  | { what: 'listed'; product: Product }
  | { what: 'published'; review: Review }
  | { what: 'bought'; purchase: Purchase }
  | { what: 'voted'; purchase: Purchase; votes: Vote[] }
  | { what: 'disputed'; review: Review }
  | { what: 'resolved'; review: Review; upheld: boolean }
)
