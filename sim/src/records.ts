import type { Money } from '@referrer/protocol'
import type { ProductType } from '@referrer/ranking'

/** A wallet, by number. */
export type Owner = number

export type Agent = {
  id: number
  owner: Owner
  flagged: boolean
  /** Of the commission, what its links give to buyers. */
  cashbackBps: number
  /** As they were when the market was last followed. Null: at a cold start. */
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
  /** Who owned the author when it was published. */
  owner: Owner
  product: Product
  /** In millionths. */
  satisfaction: number
  publishedAt: number
  /** Of a buyer's review; an approved proof otherwise. */
  purchase: Purchase | null
  opinion: { size: number; weight: number } | null
  outcome: Outcome
  finding: Finding | null
  /** Whether a contradiction stood after it was disputed; null: not resolved. */
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
  /** The review whose link was followed. */
  link: Review
  /** Null: bought without an agent. */
  buyer: Agent | null
  payer: Owner
  product: Product
  price: bigint
  boughtAt: number
  split: Money.Split
  size: number
  /** Whether there was something to vote on. */
  needsVote: boolean
  /** For somebody else than its own owner. */
  hasVoted: boolean
  review: Review | null
  isReleased: boolean
  settledAt: number | null
  /** Null: it is still held. */
  heldBackTo: 'reviewers' | 'treasury' | null
}

export type Vote = {
  ballot: number
  castAt: number
  review: Review
  voter: Agent
  voterOwner: Owner
  qualifies: boolean
  weight: number
}

/** What came through the doors, in order: enough to let it happen again. */
export type Event = { at: number } & (
  | { what: 'minted'; agent: Agent; owner: Owner }
  | { what: 'transferred'; agent: Agent; owner: Owner }
  | { what: 'flagged'; agent: Agent }
  | { what: 'opened'; merchant: Merchant }
  | { what: 'listed'; product: Product }
  | { what: 'published'; review: Review }
  | { what: 'bought'; purchase: Purchase }
  | { what: 'voted'; purchase: Purchase; votes: Vote[] }
  | { what: 'disputed'; review: Review }
  | { what: 'resolved'; review: Review; upheld: boolean }
)
