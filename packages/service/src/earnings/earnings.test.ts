import {
  type EscrowDeposit,
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Bought,
  buy,
  generic,
  productOf,
  startTestMarket,
  type TestMarket,
} from '../../test/http/market.ts'

const UNKNOWN = 4_242n

let m: TestMarket
let reviewer: bigint
let buyer: bigint
let sold: Bought
let bought: EscrowDeposit

beforeAll(async () => {
  m = await startTestMarket()
  const { market } = m
  const { accounts } = market
  const product = { merchantId: await openMerchant(market, accounts.merchant), productId: productOf(1) }
  await listProduct(market, accounts.merchant, product)
  reviewer = await registerIdentity(market, accounts.reviewer)
  buyer = await registerIdentity(market, accounts.buyer)
  await mintUsdc(market, accounts.buyer.address, 3_500_000n)
  const review = { agentId: reviewer, product, content: generic(5, 'good'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, accounts.reviewer, review)
  sold = { product, reviewId, reviewerAgentId: reviewer, buyerAgentId: buyer, cashbackOfCommissionBps: 4_000 }
  bought = await buy(m, accounts.buyer, sold)
  await m.indexed()
})
afterAll(() => m.close())

const earned = async (agentId: bigint, query = '') =>
  (await m.call('GET', `/v1/agent/${agentId}/earnings${query}`, { as: m.market.accounts.stranger })).body

const commission = (immediate: number, held_back_pending: number) => ({
  immediate,
  held_back_settled: 0,
  held_back_pending,
  total_realized: immediate,
  total_potential: immediate + held_back_pending,
})
const NOTHING = {
  commission: commission(0, 0),
  cashback: { total: 0, count: 0 },
  total_earnings: 0,
  escrow_pending: { held_back: 0, cashback: 0, total: 0 },
}

describe('the earnings of an agent', () => {
  it('are its commission, its cashback and what is still held, beside what its wallet holds', async () => {
    expect(await earned(reviewer)).toEqual({
      ...NOTHING,
      commission: commission(25_000, 25_000),
      total_earnings: 25_000,
      escrow_pending: { held_back: 25_000, cashback: 0, total: 25_000 },
      usdc_wallet_balance: '0.025',
    })
    expect(await earned(buyer)).toEqual({
      ...NOTHING,
      escrow_pending: { held_back: 0, cashback: 40_000, total: 40_000 },
      usdc_wallet_balance: '2.5',
    })
  })

  it('are nothing for an agent that nobody knows', async () => {
    expect(await earned(UNKNOWN)).toEqual(NOTHING)
    expect(await earned(BigInt(Number.MAX_SAFE_INTEGER))).toEqual(NOTHING)
  })

  it('of a period are those of its purchases, while what is held and the balance stay those of now', async () => {
    const seconds = Number(bought.windowEnd) - 60 * 24 * 60 * 60
    const at = (second: number) => new Date(second * 1_000).toISOString()
    const all = await earned(reviewer)
    const none = { ...all, commission: commission(0, 0), total_earnings: 0 }
    expect(await earned(reviewer, `?from=${at(seconds)}&to=${at(seconds + 1)}`)).toEqual(all)
    expect(await earned(reviewer, `?from=${at(seconds + 1)}`)).toEqual(none)
    expect(await earned(reviewer, `?to=${at(seconds)}`)).toEqual(none)
    expect(await earned(reviewer, '?from=0000-01-01T00:00:00Z&to=9999-12-31T23:59:59-23:59')).toEqual(all)
    expect(await earned(reviewer, `?from=${at(seconds + 1)}&to=${at(seconds)}`)).toEqual(none)
  })

  it('of a period that is no time are refused', async () => {
    const refusal = { error: 'invalid from: must be RFC3339: invalid input' }
    expect(await earned(reviewer, '?from=yesterday&to=x')).toEqual(refusal)
    expect(await earned(reviewer, '?to=2026-02-30T00:00:00Z')).toEqual({
      error: 'invalid to: must be RFC3339: invalid input',
    })
  })

  it('come without the balance while no node answers', async () => {
    const { usdc_wallet_balance: balance, ...rest } = await earned(buyer)
    expect(balance).toBe('2.5')
    m.nodes.isDown = true
    try {
      expect(await earned(buyer)).toEqual(rest)
    } finally {
      m.nodes.isDown = false
    }
  })

  it('come with the balance of the owner when the agent has no wallet', async () => {
    const { client, addresses, accounts } = m.market
    const hash = await client.writeContract({
      account: accounts.buyer,
      address: addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'unsetAgentWallet',
      args: [buyer],
    })
    await client.waitForTransactionReceipt({ hash })
    await m.indexed()
    expect((await earned(buyer)).usdc_wallet_balance).toBe('2.5')
  })
})
