import { type Address, getAddress } from 'viem'
import { describe, expect, it } from 'vitest'
import type { Standings } from './standings.ts'
import type { VotablePurchase } from './store.ts'
import { worthOf } from './weight.ts'

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

const OFF: Standings = { isOn: false, owner: null, shop: 0 }
const on = (owner: number | null, shop: number): Standings => ({ isOn: true, owner, shop })

const weight = (change: Partial<VotablePurchase> = {}, buyer: Address = BUYER, author: Address = AUTHOR) =>
  worthOf({ fullCommission: FULL }, { ...purchase, ...change }, OFF, [buyer, author]).weight
/** What a vote is worth of an agent with rank 1. */
const worth = (standings: Standings, change: Partial<VotablePurchase> = {}, buyer = BUYER) =>
  worthOf({ fullCommission: FULL }, { ...purchase, buyer_rank: 1, ...change }, standings, [buyer, AUTHOR])

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

  it('follows the standing of the buyer’s owner, and of the shop', () => {
    expect(worth(on(800_000, 400_000)).weight).toBe(1_000_000)
    expect(worth(on(400_000, 1_000_000)).weight).toBe(31_250)
    expect(worth(on(800_000, 100_000)).weight).toBe(250_000)
    expect(worth(on(0, 1_000_000)).weight).toBe(0)
    expect(worth(on(1_000_000, 0)).weight).toBe(0)
  })

  it('follows the standing of the shop alone when the owner had bought nothing before', () => {
    expect(worth(on(null, 1_000_000)).weight).toBe(1_000_000)
    expect(worth(on(null, 400_000)).weight).toBe(31_250)
  })
})

describe('a vote supports its author', () => {
  it('whatever it weighs: without commission, and without standing', () => {
    expect(worth(OFF, { commission: 0n })).toEqual({ weight: 0, supports: true })
    expect(worth(on(0, 0))).toEqual({ weight: 0, supports: true })
  })

  it('not when the buyer is flagged or sells the product', () => {
    expect(worth(OFF, { is_buyer_flagged: true }).supports).toBe(false)
    expect(worth(OFF, {}, MERCHANT).supports).toBe(false)
  })
})
