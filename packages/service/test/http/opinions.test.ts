import {
  type EscrowDeposit,
  escrowTerms,
  listProduct,
  mintUsdc,
  type Product,
  registerIdentity,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { type LocalAccount, parseEventLogs } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { opinionsFollower } from '../../src/opinions/follow.ts'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { buy, generic, productOf, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { register } from './reviews.ts'

/** A tenth of it is commission, and that much counts in full. */
const FULL_PRICE = 100_000n

let m: TestMarket
let buyer: LocalAccount
let merchant: LocalAccount
let merchantId: bigint
/** Whose link everybody buys through. */
let reviewer: bigint
let author: bigint
let product: Product
let products = 0

beforeAll(async () => {
  // Ranks of authors are put in by hand.
  m = await startTestMarket({
    overrides: { work: { queues: [], schedules: [], followers: [opinionsFollower] } },
  })
  ;({ buyer, merchant } = m.market.accounts)
  reviewer = await registerIdentity(m.market, m.market.accounts.reviewer)
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

const hashOf = (deposit: EscrowDeposit, content: string) =>
  ContentHash.contentHash({
    agentId: deposit.buyerAgentId,
    merchantId: deposit.merchantId,
    productId: deposit.productId,
    content,
  })

async function registered(deposit: EscrowDeposit, reviewId: bigint, content: string): Promise<number> {
  await m.indexed()
  const ids = { review_id: Number(reviewId), escrow_id: Number(deposit.escrowId) }
  return (await must(register(m, { ...ids, content_json: content }))).review_id
}

/** Buys and says what it was like. */
async function tell(rating: number, { price = FULL_PRICE, by = buyer, agentId = author } = {}) {
  const through = { reviewId: 0n, reviewerAgentId: reviewer }
  const deposit = await buy(m, by, { product, price, ...through, buyerAgentId: agentId })
  const content = generic(rating, 'As it was')
  const terms = [m.market.addresses.CommissionEscrow, escrowTerms(deposit), hashOf(deposit, content)]
  const { logs } = await send(m, call(m, by, 'ReviewRegistry', 'publishWithEscrow', terms))
  const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
  if (!event) throw new Error('nothing was published')
  const { reviewId } = event.args
  return { deposit, reviewId, internalId: await registered(deposit, reviewId, content) }
}

const opinionOf = async (internalId: number) =>
  (
    await m.sql<{ opinion_size: number | null; opinion_weight: number | null }[]>`
      SELECT opinion_size, opinion_weight FROM market.reviews WHERE internal_id = ${internalId}`
  )[0]

/** A moment later: the worker has to come by. */
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
    // More commission than counts in full is not worth more; nor is a second word of the same owner.
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
    const { deposit, reviewId, internalId } = await tell(5)
    await expectRank(0.545455)
    await setRank(author, { repeat: 1, one_off: 1 })
    const content = generic(1, 'Broke after a day')
    const args = [reviewId, hashOf(deposit, content)]
    await send(m, call(m, buyer, 'ReviewRegistry', 'editContent', args))
    expect(await registered(deposit, reviewId, content)).toBe(internalId)
    expect(await opinionOf(internalId)).toEqual({ opinion_size: 1_000_000, opinion_weight: 500_000 })
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
    const { deposit, reviewId, internalId } = await tell(5, { by: merchant, agentId: own })
    expect(await opinionOf(internalId)).toEqual({ opinion_size: null, opinion_weight: null })
    const transfer = [merchant.address, m.market.accounts.stranger.address, merchantId]
    await send(m, call(m, merchant, 'IdentityRegistry', 'transferFrom', transfer))
    const content = generic(4, 'Still good')
    await send(m, call(m, merchant, 'ReviewRegistry', 'editContent', [reviewId, hashOf(deposit, content)]))
    expect(await registered(deposit, reviewId, content)).toBe(internalId)
    expect(await opinionOf(internalId)).toEqual({ opinion_size: null, opinion_weight: null })
  })
})
