import { listProduct, openMerchant } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { productOf, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded, unauthorized } from './merchants.ts'

const [SOLD, ONE_OFF, BARE] = [productOf(1), productOf(2), productOf(3)]
const INVALID = [400, { error: 'invalid request', detail: expect.any(String) }]

let m: TestMarket
let merchant: LocalAccount
let merchantId: number

const described = (product_id = SOLD, more: object = {}) => ({
  merchant_id: merchantId,
  product_id,
  endpoint_url: 'https://shop.example/buy',
  name: 'Weather',
  description: 'Of tomorrow',
  category: 'api',
  ...more,
})
const describeProduct = (body: object, as = merchant) => m.call('POST', '/v1/merchant/product', { as, body })
const read = (productId: string) =>
  m.call('GET', `/v1/merchant/product?merchant_id=${merchantId}&product_id=${productId}`)

beforeAll(async () => {
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'false' } })
  const { market } = m
  merchant = market.accounts.merchant
  // This route refuses merchant 0, so that id is used up here.
  await openRecorded(m)
  const id = await openRecorded(m)
  merchantId = Number(id)
  const terms = { commissionBps: 1_234, cardUri: 'https://shop.example/card.json' }
  await listProduct(market, merchant, { merchantId: id, productId: SOLD }, terms)
  await listProduct(market, merchant, { merchantId: id, productId: ONE_OFF }, { oneOff: true })
  await listProduct(market, merchant, { merchantId: id, productId: BARE })
  await m.indexed()
  expect((await describeProduct(described(SOLD))).status).toBe(200)
})
afterAll(() => m.close())

describe('POST /v1/merchant/product', () => {
  it('writes the address, name, description and category of a product, and edits them when repeated [MERCH-13, MERCH-14, MERCH-15, MERCH-16, MERCH-17, MERCH-22]', async () => {
    const edits = [
      { endpoint_url: 'https://a.example/1', name: 'One', description: 'First', category: 'books' },
      { endpoint_url: 'https://b.example/2', name: 'Two', description: '', category: '' },
    ]
    for (const edit of edits) {
      const { status, body } = await describeProduct(described(ONE_OFF, edit))
      expect(status).toBe(200)
      expect(body).toMatchObject(edit)
      expect((await read(ONE_OFF)).body).toEqual(body)
    }
  })

  it('takes nothing else from the caller: the rest comes from the chain [MERCH-18, MERCH-19, MERCH-20, MERCH-21]', async () => {
    const before = (await read(SOLD)).body
    expect(before).toMatchObject({
      commission_bps: 1_234,
      product_type: 'Repeat',
      card_uri: 'https://shop.example/card.json',
    })
    const more = {
      commission_bps: 1,
      commissionBps: 1,
      active: false,
      is_active: false,
      product_type: 'One-off',
      productType: 1,
      card_uri: 'https://other.example/',
      cardURI: 'https://other.example/',
      cashback_bps: 5,
      product_rank: 1,
    }
    const { status, body } = await describeProduct(described(SOLD, more))
    expect([status, body]).toEqual([200, before])
    expect((await read(SOLD)).body).toEqual(before)
  })

  it('needs a signature [MERCH-12]', async () => {
    const body = described(SOLD, { name: 'Nobody' })
    expect(await m.call('POST', '/v1/merchant/product', { body })).toMatchObject(unauthorized)
    expect((await read(SOLD)).body.name).toBe('Weather')
  })

  it('is for the owner of a merchant that is recorded [AUTH-18 otherwise]', async () => {
    const theirs = await describeProduct(described(SOLD, { name: 'Theirs' }), m.market.accounts.stranger)
    expect([theirs.status, theirs.body]).toEqual([403, { error: 'caller does not own this merchant' }])
    expect((await read(SOLD)).body.name).toBe('Weather')
    const merchant_id = Number(await openMerchant(m.market, merchant))
    for (const unknown of [merchant_id, 99_999_999]) {
      const { status, body } = await describeProduct(described(SOLD, { merchant_id: unknown }))
      expect([status, body]).toEqual([404, { error: 'merchant not found' }])
    }
  })

  it('takes texts up to their limits, in characters, and http addresses only', async () => {
    const url = (length: number) => `https://shop.example/${'x'.repeat(length - 21)}`
    const longest = {
      name: '😀'.repeat(200),
      category: '😀'.repeat(64),
      description: '😀'.repeat(2_000),
      endpoint_url: url(2_048),
    }
    const taken = await describeProduct(described(BARE, longest))
    expect(taken.status).toBe(200)
    expect(taken.body).toMatchObject(longest)
    const wrong: object[] = [
      { name: 'x'.repeat(201) },
      { category: 'x'.repeat(65) },
      { description: 'x'.repeat(2_001) },
      { endpoint_url: url(2_049) },
      { endpoint_url: 'ftp://shop.example/' },
      { endpoint_url: 'javascript:alert(1)' },
      { endpoint_url: 'shop.example' },
      { endpoint_url: undefined },
      { name: 7 },
      { merchant_id: -1 },
      { merchant_id: undefined },
    ]
    for (const edit of wrong) {
      const { status, body } = await describeProduct(described(BARE, edit))
      expect([status, body], JSON.stringify(edit).slice(0, 80)).toEqual(INVALID)
    }
    expect((await read(BARE)).body).toMatchObject(longest)
  })
  it('does not wait for the records, and the indexer leaves the description alone', async () => {
    const productId = productOf(7)
    m.nodes.only = 'eth_getLogs'
    try {
      const terms = { oneOff: true, cardUri: 'ipfs://card' }
      await listProduct(m.market, merchant, { merchantId: BigInt(merchantId), productId }, terms)
      const early = await describeProduct(described(productId))
      expect(early.status).toBe(200)
      expect(early.body).toMatchObject({ name: 'Weather', product_type: 'One-off', commission_bps: 1_000 })
      expect(early.body).not.toHaveProperty('card_uri')
      expect((await read(productId)).status).toBe(404)
    } finally {
      m.nodes.only = undefined
    }
    await m.indexed()
    expect((await read(productId)).body).toMatchObject({
      name: 'Weather',
      category: 'api',
      product_type: 'One-off',
      card_uri: 'ipfs://card',
    })
  })

  it('answers with what was written, many times at the same moment, and keeps one of them whole', async () => {
    const bodies = Array.from({ length: 10 }, (_, at) =>
      described(BARE, { name: `Name ${at}`, endpoint_url: `https://shop.example/${at}` }),
    )
    const answers = await Promise.all(bodies.map((body) => describeProduct(body)))
    answers.forEach(({ status, body }, at) => {
      expect([status, body]).toMatchObject([200, bodies[at]])
    })
    expect(answers.map(({ body }) => body)).toContainEqual((await read(BARE)).body)
  })

  it('refuses a product that is not listed', async () => {
    const { status, body } = await describeProduct(described(productOf(999)))
    expect([status, body]).toEqual([404, { error: 'product not found' }])
  })

  it.each([
    'http://127.0.0.1:8080/',
    'http://localhost/',
    'http://[::ffff:10.0.0.1]/',
    'https://a:b@shop.example/',
  ])('refuses the endpoint %s', async (endpoint_url) => {
    const { status, body } = await describeProduct(described(SOLD, { endpoint_url }))
    expect([status, body]).toEqual(INVALID)
    expect(body.detail).toMatch(/^endpoint_url must be .*(everybody can reach|without credentials)/)
  })

  it('says no more than that something went wrong when the chain cannot tell who owns the merchant', async () => {
    m.nodes.only = 'eth_call'
    try {
      const { status, body } = await describeProduct(described(SOLD))
      expect([status, body]).toEqual([500, { error: 'internal error' }])
    } finally {
      m.nodes.only = undefined
    }
  })
})
