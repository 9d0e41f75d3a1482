import { type Address, getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import type { VotablePurchase } from './store.ts'
import { weightOf } from './weight.ts'

const account = (digit: string) => getAddress(`0x${digit.repeat(40)}`)
const [BUYER, AUTHOR, MERCHANT] = [account('a'), account('b'), account('c')] as const
const FULL = 10_000n

const purchase: VotablePurchase = {
  contract: Buffer.alloc(20),
  escrow_id: 1n,
  payer: Buffer.alloc(20),
  nonce: Buffer.alloc(32),
  buyer_agent_id: 1n,
  merchant_id: 2n,
  product_id: Buffer.alloc(32),
  review_id: 3n,
  commission: FULL,
  product_type: 0,
  merchant_owner: Buffer.from('c'.repeat(40), 'hex'),
  is_buyer_flagged: false,
  buyer_rank: null,
  has_voted: false,
}

const weight = (change: Partial<VotablePurchase> = {}, buyer: Address = BUYER, author: Address = AUTHOR) =>
  weightOf({ fullCommission: FULL }, { ...purchase, ...change }, [buyer, author])

describe('the weight of a vote', () => {
  it('goes from a quarter to one with the rank of the buyer', () => {
    expect(weight({ buyer_rank: 0 })).toBe(250_000)
    expect(weight({ buyer_rank: 0.6 })).toBe(700_000)
    expect(weight({ buyer_rank: 1 })).toBe(1_000_000)
  })

  it('is that of the base rate of the type of product while the buyer has no rank', () => {
    expect(weight({ product_type: 0 })).toBe(625_000)
    expect(weight({ product_type: 1 })).toBe(562_750)
  })

  it('shrinks with a small commission and grows with none beyond the full one', () => {
    expect(weight({ commission: FULL / 4n, buyer_rank: 1 })).toBe(250_000)
    expect(weight({ commission: 0n, buyer_rank: 1 })).toBe(0)
    expect(weight({ commission: 1_000n * FULL, buyer_rank: 1 })).toBe(1_000_000)
  })

  it('is nothing when the buyer is flagged', () => {
    expect(weight({ is_buyer_flagged: true, buyer_rank: 1 })).toBe(0)
  })

  it('is nothing when the buyer or the author sells the product', () => {
    expect(weight({}, MERCHANT)).toBe(0)
    expect(weight({}, BUYER, MERCHANT)).toBe(0)
    expect(weight({ merchant_owner: null }, MERCHANT)).toBe(625_000)
  })
})
