import { listProduct, openMerchant } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act, openRecorded } from './merchants.ts'

const [SOLD, ONE_OFF, BARE, CLOSED] = [productOf(1), productOf(2), productOf(3), productOf(4)]
const NOT_FOUND = [404, { error: 'product not found' }]

let m: TestMarket
let merchant: LocalAccount
let merchantId: number

const describeProduct = (product_id: string) =>
  must(
    m.call('POST', '/v1/merchant/product', {
      as: merchant,
      body: {
        merchant_id: merchantId,
        product_id,
        endpoint_url: 'https://shop.example/buy',
        name: 'Weather',
        description: 'Of tomorrow',
        category: 'api',
      },
    }),
  )
const read = (product_id: string, more = '', id: number | string = merchantId) =>
  m.call('GET', `/v1/merchant/product?merchant_id=${id}&product_id=${product_id}${more}`)

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, 31_338], overrides: NO_WORK })
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
  await listProduct(market, merchant, { merchantId: id, productId: CLOSED })
  await m.indexed()
  for (const productId of [SOLD, ONE_OFF, CLOSED]) await describeProduct(productId)
})
afterAll(() => m.close())

describe('GET /v1/merchant/product', () => {
  it('shows an open product to everybody [MERCH-23, MERCH-24, MERCH-30, MERCH-32, MERCH-34, MERCH-35, MERCH-36, MERCH-79]', async () => {
    const { status, body } = await read(SOLD)
    expect(status).toBe(200)
    expect(body).toEqual({
      merchant_id: merchantId,
      chain_id: 31_337,
      product_id: SOLD,
      name: 'Weather',
      description: 'Of tomorrow',
      category: 'api',
      commission_bps: 1_234,
      product_type: 'Repeat',
      product_rank: 0.5,
      cashback_bps: 0,
      endpoint_url: 'https://shop.example/buy',
      card_uri: 'https://shop.example/card.json',
    })
    expect((await read(SOLD.slice(2).toUpperCase())).body).toEqual(body)
    expect((await read(SOLD, '&chain_id=31337')).body).toEqual(body)
  })

  it('reads the chain that is asked for [MERCH-24]', async () => {
    const other = m.chains[1]
    if (!other) throw new Error('there is one chain')
    const product = { merchantId: BigInt(merchantId), productId: SOLD }
    let opened: bigint
    do opened = await openMerchant(other.market, merchant)
    while (opened < product.merchantId)
    await listProduct(other.market, merchant, product, { commissionBps: 77 })
    await m.indexed()
    const there = await read(SOLD, '&chain_id=31338')
    expect(there.body).toMatchObject({ chain_id: 31_338, commission_bps: 77, name: '' })
    expect((await read(ONE_OFF, '&chain_id=31338')).status).toBe(404)
    for (const [chain, error] of [
      ['999999999', 'chain_id not configured'],
      ['x', 'invalid chain_id'],
    ]) {
      const { status, body } = await read(SOLD, `&chain_id=${chain}`)
      expect([status, body]).toEqual([400, { error }])
    }
  })

  it('tells what is bought again and again from what is bought once [MERCH-31]', async () => {
    expect((await read(SOLD)).body.product_type).toBe('Repeat')
    expect((await read(ONE_OFF)).body.product_type).toBe('One-off')
  })

  it('shows a product that nobody described with empty texts and the rank of one without evidence', async () => {
    expect((await read(BARE)).body).toEqual({
      merchant_id: merchantId,
      chain_id: 31_337,
      product_id: BARE,
      name: '',
      description: '',
      category: '',
      commission_bps: 1_000,
      product_type: 'Repeat',
      product_rank: 0.5,
      cashback_bps: 0,
    })
  })

  it('shows the rank once it is computed, and no cashback whatever was pledged [MERCH-33, MERCH-34]', async () => {
    await m.sql`UPDATE market.products SET rank = 0.73 WHERE merchant_id = ${merchantId}`
    await m.sql`INSERT INTO market.cashback_rates (chain_id, agent_id, bps) VALUES (31337, ${merchantId}, 4000)`
    try {
      expect((await read(SOLD)).body).toMatchObject({ product_rank: 0.73, cashback_bps: 0 })
    } finally {
      await m.sql`UPDATE market.products SET rank = 0.5 WHERE merchant_id = ${merchantId}`
      await m.sql`DELETE FROM market.cashback_rates`
    }
  })

  it('refuses a merchant_id that is not above zero, or none at all [MERCH-25, MERCH-26]', async () => {
    for (const id of ['0', '-1', 'x', '1.5', '', '9007199254740992']) {
      const { status, body } = await read(SOLD, '', id)
      expect([status, body], id).toEqual([400, { error: 'invalid merchant_id' }])
    }
    const { status, body } = await m.call('GET', `/v1/merchant/product?product_id=${SOLD}`)
    expect([status, body]).toEqual([400, { error: 'invalid merchant_id' }])
  })

  it('refuses a product_id that is not 32 bytes, or none at all', async () => {
    const error = 'invalid product_id: must be 32-byte hex'
    for (const productId of ['', '0x', SOLD.slice(0, -2), `${SOLD}00`, SOLD.replace('1', 'g')]) {
      const { status, body } = await read(productId)
      expect([status, body], productId).toEqual([400, { error }])
    }
    const { status, body } = await m.call('GET', `/v1/merchant/product?merchant_id=${merchantId}`)
    expect([status, body]).toEqual([400, { error }])
  })

  it('finds no product that is missing, or whose merchant is [MERCH-28]', async () => {
    const missing = await read(productOf(999))
    expect([missing.status, missing.body]).toEqual(NOT_FOUND)
    const others = await read(SOLD, '', 99_999_999)
    expect([others.status, others.body]).toEqual(NOT_FOUND)
  })

  it('finds no product that is closed, until it is open again [MERCH-27]', async () => {
    const set = (active: boolean) => act(m, merchant, 'setProductActive', BigInt(merchantId), CLOSED, active)
    expect((await read(CLOSED)).status).toBe(200)
    await set(false)
    await m.indexed()
    const { status, body } = await read(CLOSED)
    expect([status, body]).toEqual(NOT_FOUND)
    await set(true)
    await m.indexed()
    expect((await read(CLOSED)).body).toMatchObject({ name: 'Weather' })
  })

  it('finds a product only when it is indexed [MERCH-29]', async () => {
    const productId = productOf(6)
    m.nodes.only = 'eth_getLogs'
    try {
      await listProduct(m.market, merchant, { merchantId: BigInt(merchantId), productId })
      const { status, body } = await read(productId)
      expect([status, body]).toEqual(NOT_FOUND)
    } finally {
      m.nodes.only = undefined
    }
    await m.indexed()
    expect((await read(productId)).status).toBe(200)
  })

  it('says no more than that something went wrong when the records cannot be read', async () => {
    const { status, body } = await m.withoutTable('market.products', () => read(SOLD))
    expect([status, body]).toEqual([500, { error: 'internal error' }])
  })
})
