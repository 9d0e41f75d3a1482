import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { generic, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded } from './merchants.ts'
import { ENDPOINT, internalIdOf, publish, register, sell } from './reviews.ts'

const INVALID = [400, { error: 'invalid request', detail: expect.any(String) }]
const NOT_FOUND = [404, { error: 'not found' }]
const INTERNAL = [500, { error: 'internal error' }]

let m: TestMarket
/** The service's clock jumps by this much each time it is read. */
let jumpMs = 0
let agentId: bigint
let product: Product

beforeAll(async () => {
  let aheadMs = 0
  const clock = () => {
    aheadMs = jumpMs && aheadMs + jumpMs
    return Date.now() + aheadMs
  }
  m = await startTestMarket({ chainIds: [31_337, 31_338], overrides: { clock } })
  const { market } = m
  const { reviewer: owner, merchant } = market.accounts
  const merchantId = await openRecorded(m)
  agentId = await registerIdentity(market, owner)
  product = await sell(m, merchantId, 1, ENDPOINT)
  // A record of the other chain, so that internal and on-chain ids differ.
  for (const { market: other } of m.chains.slice(1)) {
    const written = {
      owner,
      agentId: await registerIdentity(other, owner),
      content: generic(5, 'Of another chain'),
    }
    await publish(other, {
      ...written,
      product: await sell({ ...m, market: other }, await openMerchant(other, merchant), 1),
    })
    await m.indexed()
  }
})
afterAll(() => m.close())

/** Publishes a review. Returns the body that registers its text. */
async function written(content: string) {
  const { reviewer: owner } = m.market.accounts
  const reviewId = await publish(m.market, { owner, agentId, product, content })
  await m.indexed()
  return { review_id: reviewId, escrow_id: 0, content_json: content }
}
const answerOf = async (body: unknown, query = '') => {
  const answer = await register(m, body, query)
  return [answer.status, answer.body]
}
const totalOf = async () => (await m.call('GET', '/v1/review?limit=1')).body.total
const read = async (reviewId: number) => (await m.call('GET', `/v1/review/${reviewId}`)).body

describe('bringing the text of a review', () => {
  it('is for anybody who signs [REV-71, REV-72]', async () => {
    const body = await written(generic(5, 'By whom?'))
    expect(await m.call('POST', '/v1/review/register', { body })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized' },
    })
    expect((await read(body.review_id)).status).not.toBe('published')
    const { stranger } = m.market.accounts
    expect((await m.call('POST', '/v1/review/register', { as: stranger, body })).status).toBe(200)
    expect((await read(body.review_id)).status).toBe('published')
  })

  it('answers with the link and the internal id, and nothing else [REV-02, REV-86, REV-87, REV-89]', async () => {
    const body = await written(generic(4, 'Quick'))
    const [status, answer] = await answerOf(body)
    expect(status).toBe(200)
    expect(Object.keys(answer)).toEqual(['ref_link', 'review_id'])
    const review = await read(body.review_id)
    expect(answer).toEqual({ ref_link: review.ref_link, review_id: review.internal_id })
    expect(answer.ref_link).toContain('/r/')
    expect(answer.review_id).not.toBe(body.review_id)
  })

  it('publishes it about the agent, the merchant and the product of the chain [REV-01, REV-09]', async () => {
    const body = await written(generic(3, 'So so'))
    await register(m, { ...body, agent_id: 77, merchant_id: 77 })
    expect(await read(body.review_id)).toMatchObject({
      agent_id: Number(agentId),
      merchant_id: Number(product.merchantId),
      product_id: product.productId,
      satisfaction_score: 0.5,
      content_json: { rating: 3, description: 'So so' },
      status: 'published',
    })
  })

  it('may be repeated, and at once, without changing anything, however late [REV-90]', async () => {
    const body = await written(generic(5, 'Again'))
    const before = await totalOf()
    // With a moving clock, two links would never be equal unless only one was made.
    jumpMs = 300
    const answers = await Promise.all(Array.from({ length: 8 }, () => register(m, body)))
    const first = await read(body.review_id)
    answers.push(await register(m, body))
    jumpMs = 0
    for (const { status, text } of answers) expect([status, text]).toEqual([200, answers[0]?.text])
    expect(answers[0]?.body.review_id).toBe(first.internal_id)
    expect(await read(body.review_id)).toEqual(first)
    expect(await totalOf()).toBe(before + 1)
  })

  it('takes the text as it was hashed, byte for byte [REV-19, REV-73, REV-74]', async () => {
    const content = '{ "rating" : 4,\n\t"description" : "odd  spacing", "z": 1.50, "a": "\\u0041" }'
    const body = await written(content)
    const mismatch = `content hash mismatch: the text is not the one that review ${body.review_id} was published with: invalid input`
    const others = [
      JSON.stringify(JSON.parse(content)),
      `${content} `,
      content.replace('odd', 'Odd'),
      content.replace('\\u0041', 'A'),
      content.replace('1.50', '1.5'),
    ]
    for (const content_json of others)
      expect(await answerOf({ ...body, content_json })).toEqual([400, { error: mismatch }])
    expect((await read(body.review_id)).status).not.toBe('published')
    expect((await answerOf(body))[0]).toBe(200)
    const { text } = await m.call('GET', `/v1/review/${body.review_id}`)
    expect(text).toContain(`"content_json":${content},`)
    for (const content_json of others)
      expect(await answerOf({ ...body, content_json })).toEqual([400, { error: mismatch }])
  })

  it('is about the review that is named: the text of another one does not do [REV-73, REV-74]', async () => {
    const [one, two] = [await written(generic(5, 'One')), await written(generic(5, 'Two'))]
    const [status, { error }] = await answerOf({ ...one, content_json: two.content_json })
    expect(status).toBe(400)
    expect(error).toMatch(/^content hash mismatch: .*: invalid input$/)
  })
})

describe('a generic review', () => {
  it.each([0, 6, '5', undefined])('is refused with the rating %s [REV-20]', async (rating) => {
    const error = 'rating must be a whole number from 1 to 5: invalid input'
    await refused({ rating, description: 'Quick' }, error)
  })

  it.each(['', 5, undefined])('is refused with the description "%s" [REV-21]', async (description) => {
    await refused({ rating: 5, description }, 'description must be a text that is not blank: invalid input')
  })

  it.each(['<b>Quick</b>', 'a < b', 'b > a', '>', '<'])(
    'is refused with the description "%s" [REV-22]',
    async (description) => {
      await refused({ rating: 5, description }, 'description must not contain angle brackets: invalid input')
    },
  )

  /** Refused although the chain has the hash of this text. */
  async function refused(content: object, error: string): Promise<void> {
    const body = await written(JSON.stringify(content))
    expect(await answerOf(body)).toEqual([400, { error }])
    expect(await read(body.review_id)).toMatchObject({ content_json: {}, published_at: null })
  }

  it.each([
    [1, 0],
    [5, 1],
  ])('is taken with %i stars [REV-20]', async (rating, satisfaction_score) => {
    const body = await written(generic(rating, 'Quick'))
    expect((await answerOf(body))[0]).toBe(200)
    expect(await read(body.review_id)).toMatchObject({ satisfaction_score, content_json: { rating } })
  })
})

describe('the review of a product that can be measured', () => {
  const describeAs = (category: string) => {
    const { merchant } = m.market.accounts
    const { merchantId, productId } = product
    const texts = { endpoint_url: ENDPOINT, name: 'Weather', description: 'Of tomorrow', category }
    const body = { merchant_id: Number(merchantId), product_id: productId, ...texts }
    return must(m.call('POST', '/v1/merchant/product', { as: merchant, body }))
  }

  it('follows the schema of its category, as that is when the text comes', async () => {
    const figures = { calls: 2, successes: 1, failures: 0, latency_ms: { p50: 1, p95: 2, p99: 3 } }
    const costs = { cost_usdc: '0.02', cost_per_call_usdc: '0.01' }
    const body = await written(JSON.stringify({ rating: 5, description: 'Quick', ...figures, ...costs }))
    await describeAs('api')
    expect(await answerOf(body)).toEqual([
      400,
      { error: 'calls = successes + failures does not hold: invalid input' },
    ])
    await describeAs('')
    expect((await answerOf(body))[0]).toBe(200)
    await describeAs('api')
    expect((await answerOf(body))[0], 'once taken, it stays').toBe(200)
    await describeAs('')
  })
})

describe('a request to bring a text', () => {
  const ids = [-1, '1', 1.5, null, true, [], 2 ** 53]

  it('names the review by a number that an id can be [REV-75]', async () => {
    const { review_id: _review, ...rest } = await written(generic(5, 'Which?'))
    for (const review_id of [...ids, undefined])
      expect(await answerOf({ ...rest, review_id }), String(review_id)).toEqual(INVALID)
  })

  it('names the purchase by a number that an id can be [REV-76]', async () => {
    const body = await written(generic(5, 'Which purchase?'))
    for (const escrow_id of ids)
      expect(await answerOf({ ...body, escrow_id }), String(escrow_id)).toEqual(INVALID)
    expect((await answerOf(body))[0]).toBe(200)
  })

  it('has the text as a string [REV-77]', async () => {
    const body = await written(generic(5, 'A string'))
    for (const content_json of [JSON.parse(body.content_json), [body.content_json], 5, null, undefined])
      expect(await answerOf({ ...body, content_json })).toEqual(INVALID)
  })

  it.each(['{', '', 'null', '[]', '"text"', 'review_id=1'])('is no %s [REV-78]', async (body) => {
    expect(await answerOf(body)).toEqual(INVALID)
  })

  it('finds nothing where nothing is published [REV-80]', async () => {
    for (const review_id of [99_999_999, 0])
      expect(await answerOf({ review_id, escrow_id: 0, content_json: generic(5, 'Of what?') })).toEqual(
        NOT_FOUND,
      )
  })

  it('is about the chain that it names', async () => {
    const body = { review_id: 1, escrow_id: 0, content_json: generic(5, 'Of another chain') }
    const [status, answer] = await answerOf(body, '?chain_id=31338')
    expect(status).toBe(200)
    expect(answer.review_id).toBe(await internalIdOf(m, 31_338, 1))
    expect(await answerOf(body, '?chain_id=999999999')).toEqual([400, { error: 'chain_id not configured' }])
  })

  it('says no more than that something went wrong when records or nodes do not answer [REV-85]', async () => {
    const body = await written(generic(5, 'Without records'))
    await m.withoutTable('market.reviews', async () => expect(await answerOf(body)).toEqual(INTERNAL))
    m.nodes.isDown = true
    try {
      expect(await answerOf({ ...body, review_id: 99_999_999 })).toEqual(INTERNAL)
      // It may be the text of an edit that is not indexed yet.
      expect(await answerOf({ ...body, content_json: generic(5, 'Without nodes') })).toEqual(INTERNAL)
    } finally {
      m.nodes.isDown = false
    }
    expect((await answerOf(body))[0]).toBe(200)
  })
})
