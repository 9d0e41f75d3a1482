import {
  listProduct,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { generic, productOf, startTestMarket, type TestMarket } from '../../test/http/market.ts'

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
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(reviewId, content)))
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
