// The effect of a cashback pledge on ref links, and on the money of those who buy through them.
import { mintUsdc, openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { commissionEscrowAbi } from '@referrer/protocol/abi'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { usdcOf } from './chain.ts'
import { setCashbackRate } from './commitments.ts'
import { generic, startTestMarket, type TestMarket } from './market.ts'
import { ENDPOINT, publish, registered, sell } from './reviews.ts'
import { buyThrough, linkTerms, sharesOf } from './shopping.ts'

/** The commission of the products here, and a price whose shares all have to be rounded. */
const COMMISSION_BPS = 1_000n
const PRICE = 1_234_567n
const CONTENT = generic(5, 'Quick and right')

let m: TestMarket
let owner: LocalAccount
let merchantId: bigint
let agentId: bigint
let product: Product

beforeAll(async () => {
  m = await startTestMarket()
  const { reviewer, merchant, walletBuyer } = m.market.accounts
  owner = reviewer
  merchantId = await openMerchant(m.market, merchant)
  agentId = await registerIdentity(m.market, owner)
  const body = { merchant_id: Number(merchantId) }
  await must(m.call('POST', '/v1/merchant/register', { as: merchant, body }))
  product = await sell(m, merchantId, 1, ENDPOINT)
  await mintUsdc(m.market, walletBuyer.address, 100n * PRICE)
})
afterAll(() => m.close())

const pledge = async (bps: number) => must(setCashbackRate(m, owner, { agentId, bps }))

/** A review on the chain and in the records whose text is not registered. */
async function entered(): Promise<number> {
  const reviewId = await publish(m.market, { owner, agentId, product, content: CONTENT })
  await m.indexed()
  return reviewId
}

async function reviewed(): Promise<number> {
  const reviewId = await entered()
  await registered(m, reviewId, CONTENT)
  return reviewId
}

const rateOf = async (reviewId: number) => (await linkTerms(m, reviewId)).cashbackOfCommissionBps

describe('the rate of a link', () => {
  it('is the one that was set when the review entered the records, whenever its text came [CASH-41]', async () => {
    await pledge(1_000)
    const reviewId = await entered()
    await pledge(2_000)
    await registered(m, reviewId, CONTENT)
    expect(await rateOf(reviewId)).toBe(1_000)
  })

  it('stays when a new one is set, which is for later reviews, and when the link is made anew [CASH-41, CASH-42]', async () => {
    await pledge(1_000)
    const first = await reviewed()
    await pledge(2_000)
    const second = await reviewed()
    expect(await rateOf(first)).toBe(1_000)
    expect(await rateOf(second)).toBe(2_000)
    const body = {
      merchant_id: Number(merchantId),
      product_id: product.productId,
      endpoint_url: `${ENDPOINT}/anew`,
      ...{ name: 'Weather', description: 'Of tomorrow', category: 'books' },
    }
    await must(m.call('POST', '/v1/merchant/product', { as: m.market.accounts.merchant, body }))
    await until(
      async () => (await linkTerms(m, first)).merchantEndpoint === body.endpoint_url,
      'the link made anew',
    )
    expect(await rateOf(first)).toBe(1_000)
    expect(await rateOf(second)).toBe(2_000)
  })

  it('is 0 for reviews that come after the pledge was taken back [CASH-46]', async () => {
    await pledge(3_000)
    const generous = await reviewed()
    await pledge(0)
    const frugal = await reviewed()
    expect([await rateOf(generous), await rateOf(frugal)]).toEqual([3_000, 0])
  })
})

describe('the price of a purchase', () => {
  const escrow = (functionName: 'fees' | 'totalHeld') =>
    m.market.client.readContract({
      address: m.market.addresses.CommissionEscrow,
      abi: commissionEscrowAbi,
      functionName,
    })

  async function everybody() {
    const { merchant, walletBuyer } = m.market.accounts
    return {
      merchant: await usdcOf(m, merchant.address),
      reviewer: await usdcOf(m, owner.address),
      buyer: await usdcOf(m, walletBuyer.address),
      fees: await escrow('fees'),
      held: await escrow('totalHeld'),
    }
  }

  /** The changes of all balances after a purchase through the link of a new review, and its escrow. */
  async function bought(bps: number) {
    await pledge(bps)
    const reviewId = await reviewed()
    const { commissionMultiplierBps } = await linkTerms(m, reviewId)
    const before = await everybody()
    const deposit = await buyThrough(m, m.market.accounts.walletBuyer, reviewId, { price: PRICE })
    const after = await everybody()
    const gained = Object.fromEntries(
      Object.entries(after).map(([who, has]) => [who, has - before[who as keyof typeof before]]),
    )
    return { deposit, gained, multiplierBps: BigInt(commissionMultiplierBps) }
  }

  it.each([0, 1, 1_000, 3_333, 4_000])(
    'is shared to the unit with a pledge of %i, which is of the commission and never of the price [CASH-44]',
    async (bps) => {
      const { deposit, gained, multiplierBps } = await bought(bps)
      const rates = { commissionBps: COMMISSION_BPS, multiplierBps, cashbackBps: BigInt(bps) }
      const { merchant, fee, immediate, heldBack, cashback } = sharesOf(PRICE, rates)
      expect(cashback).toBe((deposit.commission * BigInt(bps)) / 10_000n)
      expect(deposit).toMatchObject({ commission: PRICE - merchant, fee, heldBack, cashback })
      expect(gained).toEqual({
        merchant,
        reviewer: immediate,
        buyer: -PRICE,
        fees: fee,
        held: heldBack + cashback,
      })
    },
  )

  it('gives merchant and platform the same with a pledge as without: what the buyer can get is the reviewer’s [CASH-45]', async () => {
    const [without, withPledge] = [await bought(0), await bought(4_000)]
    expect(without.deposit.cashback).toBe(0n)
    expect(withPledge.deposit.cashback).toBeGreaterThan(0n)
    for (const who of ['merchant', 'fees', 'buyer']) {
      expect(withPledge.gained[who], who).toBe(without.gained[who])
    }
    const ofReviewer = ({ deposit, gained }: Awaited<ReturnType<typeof bought>>) =>
      (gained.reviewer ?? 0n) + deposit.heldBack
    expect(ofReviewer(without) - ofReviewer(withPledge)).toBe(withPledge.deposit.cashback)
  })
})
