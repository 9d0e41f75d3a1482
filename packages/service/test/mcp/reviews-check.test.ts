// Compares the check of a text with the result of submitting the same text.
import type { Product } from '@referrer/contracts/local'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from '../http/caller.ts'
import { generic } from '../http/market.ts'
import { ENDPOINT, sell } from '../http/reviews.ts'
import { type CheckedCaller, connectChecked } from './checked.ts'
import { explainedBy } from './client.ts'
import { approved, argsOf, type Desk, startDesk, submit, written } from './submitting.ts'

const FIGURES = {
  rating: 4,
  description: 'All answered, some slowly',
  calls: 3,
  successes: 2,
  failures: 1,
  latency_ms: { p50: 10, p95: 20, p99: 30 },
  cost_usdc: '0.03',
  cost_per_call_usdc: '0.01',
}
const measured = (change: object = {}) => JSON.stringify({ ...FIGURES, ...change })

let desk: Desk
let mcp: CheckedCaller
let api: Product

beforeAll(async () => {
  desk = await startDesk()
  mcp = await connectChecked(desk.m)
  const { merchantId, productId } = await sell(desk.m, desk.product.merchantId, 2, ENDPOINT)
  api = { merchantId, productId }
  const texts = { name: 'Weather', description: '', category: 'api', endpoint_url: ENDPOINT }
  const body = { merchant_id: Number(merchantId), product_id: productId, ...texts }
  await must(desk.m.call('POST', '/v1/merchant/product', { as: desk.m.market.accounts.merchant, body }))
})
afterAll(async () => {
  await mcp.close()
  await desk.mcp.close()
  await desk.m.close()
})

const argsFor = ({ merchantId, productId }: Product, content_json: unknown) => ({
  merchant_id: Number(merchantId),
  product_id: productId,
  content_json,
})
/** The tool and the route answer the same. */
async function check(product: Product, content: string) {
  const told = await mcp.ok('check_review_content', argsFor(product, content))
  const body = await must(desk.m.call('POST', '/v1/review/check', { body: argsFor(product, content) }))
  expect(body).toEqual(told)
  return told
}

describe('check_review_content', () => {
  it('takes what may be submitted, and writes nothing', async () => {
    const before = await written(desk)
    expect(await check(desk.product, generic(4, 'Quick'))).toEqual({ valid: true })
    expect(await check(api, measured())).toEqual({ valid: true })
    expect(await check(desk.product, measured({ calls: 7 })), 'figures of a book').toEqual({ valid: true })
    expect(await written(desk)).toEqual(before)
    const { annotations } = await explainedBy(mcp.client, 'check_review_content')
    expect(annotations).toMatchObject({ readOnlyHint: true, idempotentHint: true })
  })

  it('names the problem in the words in which submit_review refuses the same text', async () => {
    const proofId = await approved(desk, api)
    const texts = [
      '[]',
      '{',
      generic(6, 'x'),
      generic(3, ' '),
      generic(3, '<b>'),
      `{"rating":3,"rating":4,"description":"x"}`,
      JSON.stringify({ rating: 3, description: 'x'.repeat(16_384) }),
      JSON.stringify({ rating: 3, description: '\ud800' }),
      generic(4, 'Without figures'),
      measured({ calls: '3' }),
      measured({ calls: 4 }),
      measured({ latency_ms: { p50: 21, p95: 20, p99: 30 } }),
      measured({ cost_usdc: '0.031' }),
    ]
    const problems = new Set<string>()
    for (const content of texts) {
      const { text, isError } = await submit(desk, argsOf(desk, proofId, content))
      expect(isError, content.slice(0, 80)).toBe(true)
      expect(await check(api, content)).toMatchObject({ valid: false, problem: text })
      problems.add(text)
    }
    expect(problems.size).toBe(texts.length)
    expect(problems).toContain('cost_usdc = calls × cost_per_call_usdc does not hold: invalid input')
  })

  it('tells what the category asks for, so that the next text fits', async () => {
    const { content_needs: needs } = await check(api, generic(4, 'Without figures'))
    expect(needs).toMatchObject({
      schema_name: 'api',
      must_hold: expect.arrayContaining(['p50 ≤ p95 ≤ p99']),
    })
    const fits = new Ajv2020().compile(needs.schema)
    expect([fits(FIGURES), fits({ rating: 4, description: 'Without figures' })]).toEqual([true, false])
    expect(await check(desk.product, generic(6, 'x')), 'a category without a schema').toEqual({
      valid: false,
      problem: 'rating must be a whole number from 1 to 5: invalid input',
    })
  })

  it('says what it needs, and which product it does not know', async () => {
    const unknown = { ...api, productId: `0x${'ee'.repeat(32)}` } as const
    expect(await mcp.refusal('check_review_content', argsFor(unknown, generic(4, 'x')))).toMatch(
      /^product 0xe+ of merchant \d+ is not listed \(or not yet indexed — retry shortly\): not found$/,
    )
    expect(await mcp.refusal('check_review_content', argsFor(api, FIGURES))).toMatch(
      /^content_json must be a string/,
    )
    expect(await mcp.refusal('check_review_content', { content_json: '{}' })).toBe(
      'merchant_id is required: invalid input',
    )
  })
})
