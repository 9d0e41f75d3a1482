import {
  confirmed,
  escrowTerms,
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { ContentHash } from '@referrer/protocol'
import { reviewRegistryAbi } from '@referrer/protocol/abi'
import { parseEventLogs } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buy, generic, productOf, startTestMarket, type TestMarket } from '../../test/http/market.ts'

let m: TestMarket
let product: Product
let agentId: bigint
let proofs = 0n

beforeAll(async () => {
  m = await startTestMarket()
  const { merchant, reviewer } = m.market.accounts
  const merchantId = await openMerchant(m.market, merchant)
  product = { merchantId, productId: productOf(1) }
  await listProduct(m.market, merchant, product)
  agentId = await registerIdentity(m.market, reviewer)
  await m.indexed()
  await m.sql`UPDATE market.products SET endpoint_url = 'https://shop.test/buy'`
})
afterAll(() => m.close())

const publish = (content: string) =>
  publishWithProof(m.market, m.market.accounts.reviewer, { agentId, product, content, proofId: ++proofs })

const register = (reviewId: bigint, content: string, more: object = {}) =>
  m.call('POST', '/v1/review/register', {
    as: m.market.accounts.stranger,
    body: { review_id: Number(reviewId), content_json: content, ...more },
  })

describe('registering the text of a review', () => {
  it('embeds the exact text, and many at once make one record and one answer', async () => {
    const content = `{ "rating" : 4,\n  "description": "odd \\u0041 spacing", "__proto__": {"a": 1} }`
    const { reviewId } = await publish(content)
    // The clock runs fast, so that two tokens would not be the same.
    let aheadMs = 0
    Object.defineProperty(m.clock, 'aheadMs', { get: () => (aheadMs += 300), configurable: true })
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(reviewId, content)))
    Object.defineProperty(m.clock, 'aheadMs', { value: 0, writable: true })
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    const one = await m.call('GET', `/v1/review/${reviewId}`)
    expect(one.text).toContain(`"content_json":${content},`)
    expect(one.body.ref_link).toBe(answers[0]?.body.ref_link)
    expect(one.body.ref_link).toMatch(/^https:\/\/market\.test\/r\/[\w-]+$/)
    const internal = await m.call('GET', `/v1/review-internal/${answers[0]?.body.review_id}`)
    expect(internal.text).toBe(one.text)
    const { body } = await m.call('GET', '/v1/review')
    expect(body).toMatchObject({ total: 1, page: 1, limit: 100, reviews: [one.body] })
  })

  it('refuses another text and text that breaks the rules', async () => {
    const { reviewId } = await publish('{"rating":6,"description":"x"}')
    expect(await register(reviewId, generic(5, 'x'))).toMatchObject({ status: 400 })
    expect((await register(reviewId, '{"rating":6,"description":"x"}')).body.error).toBe(
      'rating must be a whole number from 1 to 5: invalid input',
    )
    expect(await register(999n, generic(5, 'x'))).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await register(reviewId, generic(5, 'x'), { escrow_id: 7 })).toMatchObject({ status: 404 })
  })
})

describe('registering the review of a purchase', () => {
  /** Buys through the first review and publishes what the buyer thinks of it. */
  async function bought(content: string) {
    const { buyer } = m.market.accounts
    const buyerAgentId = await registerIdentity(m.market, buyer)
    await mintUsdc(m.market, buyer.address, 1_000_000n)
    const deposit = await buy(m, buyer, { product, reviewId: 1n, reviewerAgentId: agentId, buyerAgentId })
    const contentHash = ContentHash.contentHash({ agentId: buyerAgentId, ...product, content })
    const { addresses, client } = m.market
    const hash = await client.writeContract({
      account: buyer,
      address: addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'publishWithEscrow',
      args: [addresses.CommissionEscrow, escrowTerms(deposit), contentHash],
    })
    const { logs } = await confirmed(m.market, hash)
    const [event] = parseEventLogs({ abi: reviewRegistryAbi, eventName: 'ReviewPublished', logs })
    if (!event) throw new Error('nothing was published')
    return { reviewId: event.args.reviewId, escrowId: deposit.escrowId, buyerAgentId }
  }

  it('needs its own purchase, not one of another agent', async () => {
    const content = generic(5, 'as told')
    const [one, two] = [await bought(content), await bought(content)]
    const registerWith = (escrow: bigint) => register(two.reviewId, content, { escrow_id: Number(escrow) })
    expect(await registerWith(one.escrowId)).toMatchObject({ status: 403, body: { error: 'not authorized' } })
    expect(await registerWith(0n)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await registerWith(99_999n)).toMatchObject({ status: 404, body: { error: 'not found' } })
    const answer = await registerWith(two.escrowId)
    expect(answer.body, answer.text).toEqual({
      ref_link: expect.stringContaining('/r/'),
      review_id: expect.any(Number),
      status: 'buyer_review_registered',
    })
    expect((await registerWith(two.escrowId)).text).toBe(answer.text)
  })

  it('takes the text of an edit in place of the one before, and no longer that one', async () => {
    const [first, second] = [generic(5, 'as told'), generic(1, 'not as told')]
    const { reviewId, escrowId, buyerAgentId } = await bought(first)
    const escrow = { escrow_id: Number(escrowId) }
    expect(await register(reviewId, first, escrow)).toMatchObject({ status: 200 })
    const hash = await m.market.client.writeContract({
      account: m.market.accounts.buyer,
      address: m.market.addresses.ReviewRegistry,
      abi: reviewRegistryAbi,
      functionName: 'editContent',
      args: [reviewId, ContentHash.contentHash({ agentId: buyerAgentId, ...product, content: second })],
    })
    await confirmed(m.market, hash)
    expect(await register(reviewId, second, escrow)).toMatchObject({ status: 200 })
    const { body } = await m.call('GET', `/v1/review/${reviewId}`)
    expect(body).toMatchObject({ content_json: { rating: 1 }, satisfaction_score: 0 })
    expect(body.edited_at).toMatch(/Z$/)
    expect((await register(reviewId, first, escrow)).body.error).toMatch(
      /^content hash mismatch: .*: invalid input$/,
    )
  })

  it('waits for a vote when there was a review by a third owner to read', async () => {
    const { stranger } = m.market.accounts
    const third = await registerIdentity(m.market, stranger)
    const told = generic(3, 'so so')
    const review = { agentId: third, product, content: told, proofId: ++proofs }
    const { reviewId: thirdId } = await publishWithProof(m.market, stranger, review)
    const content = generic(2, 'meh')
    const { reviewId, escrowId, buyerAgentId } = await bought(content)
    const escrow = { escrow_id: Number(escrowId) }
    expect(await register(thirdId, told)).toMatchObject({ status: 200 })
    expect(await register(reviewId, content, escrow)).toMatchObject({
      status: 409,
      body: { error: expect.stringMatching(/needs a vote .*: conflict$/) },
    })
    const vote = (qualifies: boolean, internalId: bigint) => m.sql`
      INSERT INTO market.votes (chain_id, escrow_contract, escrow_id, voter_agent_id, review_internal_id, reasoning, qualifies)
      SELECT chain_id, contract, escrow_id, ${buyerAgentId}, ${internalId}, 'helped', ${qualifies} FROM chain.escrows
      WHERE escrow_id = ${escrowId}`
    await vote(false, 1n)
    expect(await register(reviewId, content, escrow)).toMatchObject({ status: 409 })
    await vote(true, 2n)
    expect(await register(reviewId, content, escrow)).toMatchObject({ status: 200 })
    await m.sql`DELETE FROM market.votes`
    expect(await register(reviewId, content, escrow)).toMatchObject({ status: 200 })
  })
})

describe('a product that can be measured', () => {
  it('is reviewed by its schema', async () => {
    await m.sql`UPDATE market.products SET category = 'api'`
    const figures = { calls: 2, successes: 1, failures: 0, latency_ms: { p50: 1, p95: 2, p99: 3 } }
    const costs = { cost_usdc: '0.02', cost_per_call_usdc: '0.01' }
    const content = JSON.stringify({ rating: 5, description: 'x', ...figures, ...costs })
    const { reviewId } = await publish(content)
    expect(await register(reviewId, content)).toMatchObject({
      status: 400,
      body: { error: 'calls = successes + failures does not hold: invalid input' },
    })
    await m.sql`UPDATE market.products SET category = ''`
    expect(await register(reviewId, content)).toMatchObject({ status: 200 })
    await m.sql`UPDATE market.products SET category = 'api'`
    expect(await register(reviewId, content), 'once taken, it stays').toMatchObject({ status: 200 })
  })
})

describe('lists of reviews', () => {
  it.each([
    ['', 200],
    ['?page=0&limit=501', 200],
    ['?page=9007199254740991&limit=500', 200],
    ['?page=x', 400],
    ['?limit=', 400],
    [`?merchant_id=0&product_id=${productOf(1)}&page=x`, 200],
    ['?merchant_id=0', 400],
    [`?product_id=${productOf(1)}`, 400],
  ])('%s is answered with %i', async (query, status) => {
    const answer = await m.call('GET', `/v1/review${query}`)
    expect(answer.status, answer.text).toBe(status)
  })
})
