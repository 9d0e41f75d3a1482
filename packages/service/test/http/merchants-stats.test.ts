import {
  type EscrowDeposit,
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionOf } from './caller.ts'
import { DAY, travel } from './chain.ts'
import { act as actOnEscrow } from './escrows.ts'
import { type Bought, buy, generic, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act, openRecorded, unauthorized } from './merchants.ts'

const NOTHING = {
  conversions: 0,
  gross_revenue_usdc: 0,
  escrows_held: 0,
  escrows_settled: 0,
  products_active: 0,
  products_total: 0,
}

let m: TestMarket
let merchant: LocalAccount
let token: string
let reviewerAgentId: bigint
let proofs = 0n

beforeAll(async () => {
  m = await startTestMarket()
  const { accounts } = m.market
  merchant = accounts.merchant
  // Identity 0 is a merchant too.
  await openRecorded(m)
  reviewerAgentId = await registerIdentity(m.market, accounts.reviewer)
  await mintUsdc(m.market, accounts.walletBuyer.address, 1_000_000_000n)
  token = await sessionOf(m.call, merchant)
})
afterAll(() => m.close())

async function stats(merchantId: bigint | number | string, ask: object = { token }) {
  await m.indexed()
  return m.call('GET', `/v1/merchant/${merchantId}/stats`, ask)
}

/** A reviewed product of this merchant, with what is needed to buy it. */
async function onSale(merchantId: bigint, number: number): Promise<Bought> {
  const { reviewer } = m.market.accounts
  const product = { merchantId, productId: productOf(number) }
  await listProduct(m.market, merchant, product)
  proofs += 1n
  const review = { agentId: reviewerAgentId, product, content: generic(5, 'good'), proofId: proofs }
  const { reviewId } = await publishWithProof(m.market, reviewer, review)
  return { product, reviewId, reviewerAgentId }
}

const sell = (bought: Bought, price: bigint) => buy(m, m.market.accounts.walletBuyer, { ...bought, price })

/** Settles after the window, as the oracle does. */
async function settle(deposit: EscrowDeposit): Promise<void> {
  await travel(m, 60 * DAY)
  await actOnEscrow(m, m.market.accounts.oracle, 'settle', deposit, false, false)
}

describe('GET /v1/merchant/{id}/stats', () => {
  it('is for the session of the owner [MERCH-70]', async () => {
    const merchantId = await openRecorded(m)
    for (const ask of [{}, { as: merchant }, { token: 'x'.repeat(43) }])
      expect(await stats(merchantId, ask)).toMatchObject(unauthorized)
    expect((await stats(merchantId)).status).toBe(200)
    const { status, body } = await stats(merchantId, {
      token: await sessionOf(m.call, m.market.accounts.stranger),
    })
    expect([status, body]).toEqual([403, { error: 'caller does not own this merchant' }])
  })

  it('is nothing for a merchant that sold nothing', async () => {
    const { status, body } = await stats(await openRecorded(m))
    expect([status, body]).toEqual([200, NOTHING])
  })

  it('counts each sale and adds up what buyers paid, in base units [MERCH-71, MERCH-72, MERCH-73, MERCH-74, MERCH-75, MERCH-76]', async () => {
    const merchantId = await openRecorded(m)
    const first = await onSale(merchantId, 1)
    const one = await sell(first, 1_000_001n)
    expect((await stats(merchantId)).body).toEqual({
      conversions: 1,
      gross_revenue_usdc: 1_000_001,
      escrows_held: 1,
      escrows_settled: 0,
      products_active: 1,
      products_total: 1,
    })
    const second = await onSale(merchantId, 2)
    await sell(second, 2_500_000n)
    // Its commission rounds to zero, so nothing is held back.
    await sell(first, 7n)
    await settle(one)
    expect((await stats(merchantId)).body).toEqual({
      conversions: 3,
      gross_revenue_usdc: 3_500_008,
      escrows_held: 1,
      escrows_settled: 2,
      products_active: 2,
      products_total: 2,
    })
  })

  it('counts closed products among all, and the sales of others not at all [MERCH-71, MERCH-75]', async () => {
    const [merchantId, other] = [await openRecorded(m), await openRecorded(m)]
    const bought = await onSale(merchantId, 3)
    await onSale(merchantId, 4)
    await sell(await onSale(other, 3), 5_000_000n)
    await sell(bought, 1_000_000n)
    await act(m, merchant, 'setProductActive', merchantId, productOf(3), false)
    expect((await stats(merchantId)).body).toEqual({
      conversions: 1,
      gross_revenue_usdc: 1_000_000,
      escrows_held: 1,
      escrows_settled: 0,
      products_active: 1,
      products_total: 2,
    })
  })

  it('is there for the merchant 0, not for ids that are none or not recorded', async () => {
    expect((await stats(0)).body).toEqual(NOTHING)
    for (const id of ['-1', 'x']) {
      const { status, body } = await stats(id)
      expect([status, body]).toEqual([400, { error: 'invalid merchant id' }])
    }
    const { status, body } = await stats(await openMerchant(m.market, merchant))
    expect([status, body]).toEqual([404, { error: 'merchant not found' }])
  })
})
