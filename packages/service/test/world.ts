// The mirrored tables as stored in the database: hex in lower case, times in seconds.
import type { Hex } from 'viem'

export interface Identity {
  chain_id: bigint
  agent_id: bigint
  owner: Hex
  wallet: Hex
  uri: string
  minted_at: bigint
  transferred_at: bigint | null
}

export interface OwnershipChange {
  chain_id: bigint
  block_number: bigint
  log_index: number
  agent_id: bigint
  from_owner: Hex
  to_owner: Hex
  changed_at: bigint
}

export interface Merchant {
  chain_id: bigint
  merchant_id: bigint
  active: boolean
  suspended: boolean
  opened_by: Hex | null
  payout: Hex | null
}

export interface MerchantRole {
  chain_id: bigint
  merchant_id: bigint
  granted_by: Hex
  role: Hex
  account: Hex
  granted: boolean
}

export interface Product {
  chain_id: bigint
  merchant_id: bigint
  product_id: Hex
  commission_bps: number
  min_price: bigint
  product_type: number
  card_uri: string
  active: boolean
  listed_at: bigint
}

/** Without the internal id; with the hash and the owner at publication. */
export interface Review {
  chain_id: bigint
  block_number: bigint
  log_index: number
  review_id: bigint
  agent_id: bigint
  merchant_id: bigint
  product_id: Hex
  content_hash: Hex
  published_hash: Hex
  author_owner: Hex
  proof_kind: number
  proof_id: bigint
  published_at: bigint
  edited_at: bigint | null
}

export interface ReviewEdit {
  chain_id: bigint
  block_number: bigint
  log_index: number
  review_id: bigint
  previous_hash: Hex
  content_hash: Hex
  edited_at: bigint
}

export interface Escrow {
  chain_id: bigint
  block_number: bigint
  log_index: number
  contract: Hex
  escrow_id: bigint
  reviewer_agent_id: bigint
  buyer_agent_id: bigint | null
  buyer_owner: Hex | null
  payer: Hex
  nonce: Hex
  merchant_id: bigint
  product_id: Hex
  review_id: bigint
  price: bigint
  commission: bigint
  fee: bigint
  held_back: bigint
  cashback: bigint
  window_end: bigint
  deposited_at: bigint
  transaction_hash: Hex
  bound_by: Hex | null
  bound_at: bigint | null
  cashback_released_at: bigint | null
  settled_at: bigint | null
  settled_by: Hex | null
  fallback_used: boolean | null
  held_back_to_reviewer: bigint | null
  held_back_to_treasury: bigint | null
  cashback_to_buyer: bigint | null
  cashback_to_reviewer: bigint | null
}

export interface Payout {
  chain_id: bigint
  block_number: bigint
  log_index: number
  contract: Hex
  account: Hex
  claimed: boolean
  amount: bigint
  happened_at: bigint
}

export interface SkippedEscrow {
  chain_id: bigint
  block_number: bigint
  log_index: number
  contract: Hex
  payer: Hex
  nonce: Hex
  escrow_id: bigint
  transaction_hash: Hex
  reason: Hex
}

export interface World {
  identities: Identity[]
  ownership_changes: OwnershipChange[]
  merchants: Merchant[]
  merchant_roles: MerchantRole[]
  products: Product[]
  reviews: Review[]
  review_edits: ReviewEdit[]
  escrows: Escrow[]
  payouts: Payout[]
  skipped_escrows: SkippedEscrow[]
}
