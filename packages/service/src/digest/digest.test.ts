import {
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buy, generic, productOf, startTestMarket, type TestMarket } from '../../test/http/market.ts'

let m: TestMarket
let reviewer: bigint
let buyer: bigint
let products: Product[]
let reviewId: bigint

beforeAll(async () => {
  m = await startTestMarket()
  const { market } = m
  const { accounts } = market
  const merchantId = await openMerchant(market, accounts.merchant)
  products = [1, 2, 3].map((number) => ({ merchantId, productId: productOf(number) }))
  for (const [at, product] of products.entries()) {
    await listProduct(market, accounts.merchant, product, { commissionBps: 1_000 + at, oneOff: at === 1 })
  }
  reviewer = await registerIdentity(market, accounts.reviewer)
  buyer = await registerIdentity(market, accounts.buyer)
  await mintUsdc(market, accounts.buyer.address, 5_000_000n)
  const review = { agentId: reviewer, product: productAt(0), content: generic(5, 'good'), proofId: 1n }
  reviewId = (await publishWithProof(market, accounts.reviewer, review)).reviewId
  await m.indexed()
  await m.sql`
    UPDATE market.products SET name = 'Weather', category = 'api', description = 'Of today', rank = 0.9
    WHERE product_id = ${bytesOf(productAt(1))}`
})
afterAll(() => m.close())

function productAt(at: number): Product {
  const product = products[at]
  if (!product) throw new Error(`there is no product ${at}`)
  return product
}
const bytesOf = ({ productId }: Product) => Buffer.from(productId.slice(2), 'hex')

async function get(path: string) {
  await m.indexed()
  return (await m.call('GET', path, { as: m.market.accounts.stranger })).body
}
const digestOf = (agentId: bigint, query = '') => get(`/v1/agent/${agentId}/context${query}`)
const reviewable = async (agentId: bigint, query = '') =>
  (await get(`/v1/agent/${agentId}/reviewable${query}`)).products
const idsOf = (list: { product_id: string }[]) => list.map(({ product_id }) => product_id)

describe('the digest of an agent', () => {
  it('that nobody knows is empty', async () => {
    const { hints, ...rest } = await digestOf(4_242n)
    expect(rest).toEqual({
      agent_id: 4_242,
      chain_id: m.chainId,
      registered: false,
      identity: {},
      global_cashback_of_commission_bps: 0,
      counts: { reviews_authored: 0, votes_cast: 0, review_backlog: 0, pending_proofs: 0 },
      actionable: {
        review_backlog: [],
        pending_proofs: [],
        escrow_pending: { held_back: 0, cashback: 0, total: 0 },
      },
      earnings: {
        commission_realized: 0,
        commission_potential: 0,
        cashback_total: 0,
        cashback_count: 0,
        total_earnings: 0,
      },
      recent_reviews: [],
    })
    expect(hints).toHaveLength(4)
    expect((await digestOf(buyer)).hints).toEqual(hints)
  })

  it('tells a buyer what it has still to review, and a reviewer what it earned', async () => {
    const sold = {
      product: productAt(0),
      reviewId,
      reviewerAgentId: reviewer,
      cashbackOfCommissionBps: 4_000,
    }
    await buy(m, m.market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    const { escrowId } = await buy(m, m.market.accounts.buyer, { ...sold, buyerAgentId: buyer })
    await m.sql`
      INSERT INTO market.proofs (chain_id, agent_id, merchant_id, product_id, proof_data)
      VALUES (${m.chainId}, ${buyer}, ${productAt(2).merchantId}, ${bytesOf(productAt(2))}, '{}')`
    const [proof] = await m.sql<{ proof_id: bigint }[]>`SELECT proof_id FROM market.proofs`
    const merchant_id = Number(productAt(0).merchantId)
    expect(await digestOf(buyer)).toMatchObject({
      registered: true,
      identity: { owner_address: m.market.accounts.buyer.address },
      counts: { reviews_authored: 0, votes_cast: 0, review_backlog: 1, pending_proofs: 1 },
      actionable: {
        review_backlog: [
          { merchant_id, product_id: productOf(1), name: '', category: '', escrow_id: Number(escrowId) },
        ],
        pending_proofs: [
          { proof_id: Number(proof?.proof_id), merchant_id, product_id: productOf(3), status: 'pending' },
        ],
        escrow_pending: { held_back: 0, cashback: 80_000, total: 80_000 },
      },
      earnings: { usdc_wallet_balance: '3' },
    })
    const { recent_reviews, earnings, counts } = await digestOf(reviewer)
    expect(earnings).toEqual({
      commission_realized: 50_000,
      commission_potential: 100_000,
      cashback_total: 0,
      cashback_count: 0,
      total_earnings: 50_000,
      usdc_wallet_balance: '0.05',
    })
    expect(recent_reviews).toEqual([
      {
        internal_review_id: expect.any(Number),
        on_chain_review_id: Number(reviewId),
        merchant_id,
        product_id: productOf(1),
        status: 'pending',
        ref_link: '',
      },
    ])
    expect(counts.reviews_authored).toBe(0)
  })

  it('leaves out of the identity what is not so', async () => {
    const { identity } = await digestOf(buyer)
    expect(identity).toEqual({ owner_address: m.market.accounts.buyer.address })
    await m.sql`INSERT INTO market.review_ranks VALUES (${m.chainId}, ${buyer}, 0.7, NULL)`
    expect((await digestOf(buyer)).identity).toEqual({ ...identity, review_rank_repeat: 0.7 })
    await m.sql`UPDATE market.agents SET flagged = true WHERE agent_id = ${buyer}`
    const flagged = { review_rank_repeat: 0, review_rank_one_off: 0, flagged: true }
    expect((await digestOf(buyer)).identity).toEqual({ ...identity, ...flagged })
  })
})

describe('what an agent could review', () => {
  it('is what it has not bought, best first, or what it bought and has not reviewed', async () => {
    expect(await reviewable(buyer)).toEqual([
      {
        product_id: productOf(2),
        merchant_id: Number(productAt(1).merchantId),
        name: 'Weather',
        description: 'Of today',
        category: 'api',
        product_type: 'One-off',
        commission_bps: 1_001,
      },
      expect.objectContaining({ product_id: productOf(3), product_type: 'Repeat', category: '' }),
    ])
    const bought = await reviewable(buyer, '?needs_review=T')
    expect(idsOf(bought)).toEqual([productOf(1)])
    expect(bought[0].escrow_id).toEqual(expect.any(Number))
  })

  it('is narrowed by category: exactly that one, and none that cannot be', async () => {
    expect(idsOf(await reviewable(buyer, '?category=api'))).toEqual([productOf(2)])
    expect(idsOf(await reviewable(buyer, '?category='))).toEqual([productOf(2), productOf(3)])
    for (const category of ['API', 'ap', 'a'.repeat(65), '%00', '%F0%9F%A6%8A'])
      expect(await reviewable(buyer, `?category=${category}`)).toEqual([])
  })

  it('ends where the list does', async () => {
    expect(idsOf(await reviewable(buyer, '?limit=0&offset=1'))).toEqual([productOf(3)])
    expect(await reviewable(buyer, `?offset=${Number.MAX_SAFE_INTEGER}`)).toEqual([])
    expect(await reviewable(buyer, `?needs_review=1&offset=${Number.MAX_SAFE_INTEGER}`)).toEqual([])
  })
})
