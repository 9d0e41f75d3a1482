import type { Address, Hex } from 'viem'
import type { MarketLog } from '../contracts.ts'
import type { Value } from '../encode.ts'
import type { Random } from '../random.ts'

export type MarketTransaction = { from: Address; logs: MarketLog[] }
/** Changes the market; undefined: there was nothing to act on. */
export type Act = (state: State, timestamp: number) => MarketTransaction | undefined

export type Agent = { id: bigint; owner: Address }
export type Product = { merchant: Agent; id: Hex; active: boolean }
export type Review = { id: bigint; author: Agent; product: Product; contentHash: Hex }
export type Escrow = {
  id: bigint
  payer: Address
  payersAgent: Agent
  bound: boolean
  product: Product
  heldBack: bigint
  cashback: bigint
  windowEnd: number
  released: boolean
  reviewed: boolean
}

export type State = {
  random: Random
  agents: Agent[]
  merchants: Agent[]
  products: Product[]
  reviews: Review[]
  escrows: Escrow[]
  claimable: Map<Address, bigint>
  /** How many escrows, oldest first, are settled. */
  settled: number
  /** How many of what is only ever added to. */
  added: {
    ownership_changes: number
    merchant_roles: number
    review_edits: number
    payouts: number
    proofs: number
  }
}

export const ORACLE: Address = '0x0ac1e00000000000000000000000000000000001'
export const GUARDIAN: Address = '0x9ad1a00000000000000000000000000000000001'

export function by(from: Address, ...logs: MarketLog[]): MarketTransaction {
  return { from, logs }
}

export function keyOf(product: Product): Record<string, Value> {
  return { merchantId: product.merchant.id, productId: product.id }
}
