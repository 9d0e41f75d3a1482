import { listProduct, mintUsdc, type Product, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opinionsFollower } from '../../src/derived/opinions/follow.ts'
import { must } from './caller.ts'
import { transfer } from './chain.ts'
import { FULL_COMMISSION, productOf, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { beginDay, buyThrough, edit, FULL_PRICE, type Review, tell as tellOf } from './town.ts'

let m: TestMarket
let buyer: LocalAccount
let merchant: LocalAccount
let merchantId: bigint
/** The review whose link everybody buys through; its content does not matter. */
let link: Omit<Review, 'product'>
let author: bigint
let product: Product
let products = 0

beforeAll(async () => {
  // The ranks of authors are set by the tests.
  m = await startTestMarket({
    env: FULL_COMMISSION,
    overrides: { work: { schedules: [], followers: [opinionsFollower] } },
  })
  beginDay(m)
  const { reviewer: owner } = m.market.accounts
  ;({ buyer, merchant } = m.market.accounts)
  link = { author: { owner, agentId: await registerIdentity(m.market, owner) }, reviewId: 0n, internalId: 0 }
  merchantId = await openRecorded(m)
  for (const { address } of [buyer, merchant]) await mintUsdc(m.market, address, 100_000_000n)
})
afterAll(() => m.close())

beforeEach(async () => {
  author = await registerIdentity(m.market, buyer)
  product = await list()
})

async function list(type = { oneOff: false }): Promise<Product> {
  const listed = { merchantId, productId: productOf(++products) }
  await listProduct(m.market, merchant, listed, type)
  return listed
}

/** Buys and publishes a review. */
async function tell(rating: number, { price = FULL_PRICE, owner = buyer, agentId = author } = {}) {
  const person = { owner, agentId }
  return tellOf(m, person, await buyThrough(m, person, { ...link, product }, { price }), rating)
}

const opinionOf = async (internalId: number) =>
  (
    await m.sql<{ opinion_size: number | null; opinion_weight: number | null }[]>`
      SELECT opinion_size, opinion_weight FROM market.reviews WHERE internal_id = ${internalId}`
  )[0]

/** Waits until the follower has computed the rank. */
async function expectRank(rank: number): Promise<void> {
  const query = `merchant_id=${merchantId}&product_id=${product.productId}`
  const read = async () => (await must(m.call('GET', `/v1/merchant/product?${query}`))).product_rank
  await expect.poll(read, { timeout: 30_000 }).toBe(rank)
}

const setRank = (agentId: bigint, ranks: { repeat: number; one_off: number }) =>
  m.sql`INSERT INTO market.review_ranks ${m.sql({ chain_id: m.chainId, agent_id: agentId, ...ranks })}`

describe("a buyer's review", () => {
  it('moves the rank of its product by the size of the purchase and the rank of its author [RANK-24]', async () => {
    const newcomer = await tell(5, { price: FULL_PRICE / 4n })
    expect(await opinionOf(newcomer.internalId)).toEqual({ opinion_size: 250_000, opinion_weight: 125_000 })
    await expectRank(0.512195)
    // Commission beyond the full amount adds no weight, and neither does a second opinion of the same owner.
    await setRank(author, { repeat: 0.8, one_off: 0.1 })
    const ranked = await tell(1, { price: 3n * FULL_PRICE })
    expect(await opinionOf(ranked.internalId)).toEqual({ opinion_size: 1_000_000, opinion_weight: 800_000 })
    await expectRank(0.431034)
  })

  it('counts by the rank for the type of its product', async () => {
    product = await list({ oneOff: true })
    const { internalId } = await tell(3)
    expect(await opinionOf(internalId)).toEqual({ opinion_size: 1_000_000, opinion_weight: 417_000 })
    await setRank(author, { repeat: 0.8, one_off: 0.3 })
    expect(await opinionOf((await tell(3)).internalId)).toMatchObject({ opinion_weight: 300_000 })
  })

  it('keeps its weight when it is edited, whatever its author has become', async () => {
    const review = await tell(5)
    await expectRank(0.545455)
    await setRank(author, { repeat: 1, one_off: 1 })
    await edit(m, review, 1)
    expect(await opinionOf(review.internalId)).toEqual({ opinion_size: 1_000_000, opinion_weight: 500_000 })
    await expectRank(0.454545)
  })

  it('weighs nothing when its author is flagged', async () => {
    await m.indexed()
    await m.sql`UPDATE market.agents SET flagged = true WHERE agent_id = ${author}`
    const { internalId } = await tell(5)
    expect(await opinionOf(internalId)).toEqual({ opinion_size: 1_000_000, opinion_weight: 0 })
  })

  it('is no opinion of a product that its author sells, even when it is edited after the merchant was sold', async () => {
    const own = await registerIdentity(m.market, merchant)
    const review = await tell(5, { owner: merchant, agentId: own })
    expect(await opinionOf(review.internalId)).toEqual({ opinion_size: null, opinion_weight: null })
    await transfer(m, merchant, m.market.accounts.stranger.address, merchantId)
    await edit(m, review, 4)
    expect(await opinionOf(review.internalId)).toEqual({ opinion_size: null, opinion_weight: null })
  })
})
