import { listProduct, openMerchant, registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bytesOf } from '../../src/machinery/db/bytes.ts'
import { call } from '../calls.ts'
import { send } from './chain.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { act, openRecorded, register, unauthorized } from './merchants.ts'

const CARD = 'https://shop.example/agent.json'
const RFC3339_UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

let m: TestMarket
let merchant: LocalAccount
let stranger: LocalAccount
/** An open merchant with two products, one of them closed. */
let shop: bigint
/** All merchants recorded before the tests, ascending. */
let all: number[]

const get = async (merchantId: bigint | number | string) => {
  await m.indexed()
  return m.call('GET', `/v1/merchant/${merchantId}`)
}
const setProfile = (body: object, as = merchant) => m.call('POST', '/v1/merchant/profile', { as, body })

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  ;({ merchant, stranger } = m.market.accounts)
  const zero = await openRecorded(m)
  const others = [await openRecorded(m, stranger), await openRecorded(m)]
  shop = await registerIdentity(m.market, merchant, CARD)
  await act(m, merchant, 'setActive', shop, true)
  await register(m, merchant, shop)
  for (const product of [2, 1])
    await listProduct(m.market, merchant, { merchantId: shop, productId: productOf(product) })
  await act(m, merchant, 'setProductActive', shop, productOf(2), false)
  all = [zero, ...others, shop].map(Number)
  await m.indexed()
})
afterAll(() => m.close())

describe('GET /v1/merchant/{id}', () => {
  it('shows a merchant to everybody, with its products, open and closed [MERCH-59, MERCH-62, MERCH-64, MERCH-65, MERCH-66, MERCH-79]', async () => {
    const { status, body } = await get(shop)
    expect(status).toBe(200)
    const { registered_at, ...rest } = body
    expect(rest).toEqual({
      merchant_id: Number(shop),
      chain_id: m.chainId,
      owner_address: merchant.address,
      payout_wallet: merchant.address,
      status: 'active',
      merchant_rank: null,
      metadata_uri: CARD,
      product_ids: [productOf(1), productOf(2)],
    })
    expect(registered_at).toMatch(RFC3339_UTC)
  })

  it('dates a merchant by its registration here [MERCH-66]', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    await m.indexed()
    const now = async () => (await m.sql<[{ at: Date }]>`SELECT date_trunc('second', now()) AS at`)[0].at
    const before = await now()
    await register(m, merchant, merchantId)
    const at = Date.parse((await get(merchantId)).body.registered_at)
    expect(at).toBeGreaterThanOrEqual(before.getTime())
    expect(at).toBeLessThan((await now()).getTime() + 1_000)
  })

  it('leaves out what a merchant has not set [MERCH-67]', async () => {
    const { body } = await get(await openRecorded(m))
    expect(Object.keys(body).toSorted()).toEqual([
      'chain_id',
      'merchant_id',
      'merchant_rank',
      'owner_address',
      'payout_wallet',
      'product_ids',
      'registered_at',
      'status',
    ])
    expect(body.product_ids).toEqual([])
  })

  it('shows the rank once it is computed [MERCH-65]', async () => {
    const merchantId = await openRecorded(m)
    await m.sql`UPDATE market.merchants SET rank = 0.61 WHERE merchant_id = ${merchantId}`
    expect((await get(merchantId)).body.merchant_rank).toBe(0.61)
  })

  it('tells whether a merchant is open, closed by its owner or suspended by the protocol [MERCH-63, MERCH-77]', async () => {
    const { guardian } = m.market.accounts
    const merchantId = await openRecorded(m)
    const status = async () => (await get(merchantId)).body.status
    expect(await status()).toBe('active')
    await act(m, merchant, 'setActive', merchantId, false)
    expect(await status()).toBe('inactive')
    await act(m, merchant, 'setActive', merchantId, true)
    expect(await status()).toBe('active')
    await act(m, guardian, 'setSuspended', merchantId, true)
    expect(await status()).toBe('suspended')
    await act(m, guardian, 'setSuspended', merchantId, false)
    expect(await status()).toBe('active')
  })

  it('names the owner and the payout wallet as the chain has them now; a new owner begins closed [MERCH-64]', async () => {
    const { IdentityRegistry: address } = m.market.addresses
    const merchantId = await openRecorded(m)
    const { treasury } = m.market.accounts
    await act(m, merchant, 'setPayoutWallet', merchantId, treasury.address)
    expect((await get(merchantId)).body).toMatchObject({
      status: 'active',
      owner_address: merchant.address,
      payout_wallet: treasury.address,
    })
    const handOver = [merchant.address, stranger.address, merchantId]
    await send(m, call(m, merchant, 'IdentityRegistry', 'transferFrom', handOver))
    const owner = await m.market.client.readContract({
      address,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [merchantId],
    })
    expect(owner).toBe(stranger.address)
    expect((await get(merchantId)).body).toMatchObject({
      status: 'inactive',
      owner_address: owner,
      payout_wallet: owner,
    })
  })

  it('refuses an id that is not above zero, although 0 is a merchant [MERCH-60, MERCH-61]', async () => {
    for (const id of ['0', '-1', 'x', '1.5', '9007199254740992']) {
      const { status, body } = await get(id)
      expect([status, body], id).toEqual([400, { error: 'invalid merchant id' }])
    }
  })

  it('finds nobody that is not recorded', async () => {
    for (const id of [await openMerchant(m.market, merchant), 99_999_999]) {
      const { status, body } = await get(id)
      expect([status, body]).toEqual([404, { error: 'merchant not found' }])
    }
  })
})

describe('GET /v1/merchant', () => {
  const list = async (query = '') => {
    await m.indexed()
    return m.call('GET', `/v1/merchant${query}`)
  }
  const idsOf = ({ body }: Awaited<ReturnType<typeof list>>) =>
    body.merchants.map(({ merchant_id }: { merchant_id: number }) => merchant_id)

  it('lists whole records by ascending id to everybody, the merchant 0 too [MERCH-68, MERCH-69, MERCH-79]', async () => {
    const listed = await list()
    const { status, body } = listed
    expect(status).toBe(200)
    expect(Object.keys(body).toSorted()).toEqual(['limit', 'merchants', 'page', 'total'])
    expect(idsOf(listed).slice(0, all.length)).toEqual(all)
    expect(body).toMatchObject({ page: 1, limit: 20, total: body.merchants.length })
    expect(body.merchants[all.indexOf(Number(shop))]).toEqual((await get(shop)).body)
  })

  it('shows the first hundred products of a merchant; the merchant alone shows all', async () => {
    const merchantId = await openRecorded(m)
    await m.indexed()
    const products = Array.from({ length: 105 }, (_, at) => productOf(1_000 + at))
    await m.sql.begin(async (tx) => {
      await tx`SELECT set_config('indexer.block', 'final', true)`
      await tx`
        INSERT INTO chain.products
        SELECT ${m.chainId}, ${merchantId}, product_id, 500, 0, 0, '', true, now()
        FROM unnest(${products.map(bytesOf)}::bytea[]) AS product_id`
    })
    expect((await get(merchantId)).body.product_ids).toEqual(products)
    const listed = await list('?limit=500')
    const { product_ids } = listed.body.merchants[idsOf(listed).indexOf(Number(merchantId))]
    expect(product_ids).toEqual(products.slice(0, 100))
  })

  it('turns pages [MERCH-68, MERCH-69]', async () => {
    const total = (await list()).body.total
    const second = await list('?limit=1&page=2')
    expect(idsOf(second)).toEqual([all[1]])
    expect(second.body).toMatchObject({ total, page: 2, limit: 1 })
    expect(idsOf(await list('?limit=2&page=2'))).toEqual(all.slice(2, 4))
    expect(idsOf(await list('?limit=3'))).toEqual(all.slice(0, 3))
    const beyond = await list('?page=1000')
    expect(beyond).toMatchObject({ status: 200, body: { merchants: [], total, page: 1_000 } })
  })

  it('gives at most 500 at once, and refuses what is no number [MERCH-68, MERCH-69]', async () => {
    expect((await list('?limit=500')).body.limit).toBe(500)
    expect((await list('?limit=501')).body.limit).toBe(500)
    for (const name of ['limit', 'page']) {
      const { status, body } = await list(`?${name}=x`)
      expect([status, body]).toEqual([400, { error: `invalid ${name}` }])
    }
  })
})

describe('POST /v1/merchant/profile', () => {
  const profile = () => ({
    merchant_id: Number(shop),
    description: 'Maps and weather',
    landing_page_url: 'https://shop.example/',
  })

  it('sets the description and the page of a merchant; an empty page removes the link [MERCH-56, MERCH-57]', async () => {
    const merchantId = Number(await openRecorded(m))
    const body = { ...profile(), merchant_id: merchantId }
    expect((await setProfile(body)).status).toBe(200)
    expect((await get(merchantId)).body).toMatchObject({
      description: 'Maps and weather',
      landing_page_url: 'https://shop.example/',
    })
    expect((await setProfile({ ...body, description: 'Maps', landing_page_url: '' })).status).toBe(200)
    const after = (await get(merchantId)).body
    expect(after).toMatchObject({ description: 'Maps' })
    expect(after).not.toHaveProperty('landing_page_url')
  })

  it('needs a signature [MERCH-55]', async () => {
    const body = profile()
    expect(await m.call('POST', '/v1/merchant/profile', { body })).toMatchObject(unauthorized)
    expect((await get(shop)).body).not.toHaveProperty('description')
  })

  it('needs a merchant that is recorded [MERCH-58]', async () => {
    for (const merchantId of [await openMerchant(m.market, merchant), 99_999_999]) {
      const { status, body } = await setProfile({ ...profile(), merchant_id: Number(merchantId) })
      expect([status, body]).toEqual([404, { error: 'merchant not found' }])
    }
  })

  it('is for the owner', async () => {
    const { status, body } = await setProfile(profile(), stranger)
    expect([status, body]).toEqual([403, { error: 'caller does not own this merchant' }])
    expect((await get(shop)).body).not.toHaveProperty('description')
  })

  it('takes texts up to their limits and http addresses only [MERCH-56]', async () => {
    const url = (length: number) => `https://shop.example/${'x'.repeat(length - 21)}`
    const merchant_id = Number(await openRecorded(m))
    const longest = { merchant_id, description: 'x'.repeat(2_000), landing_page_url: url(2_048) }
    expect((await setProfile(longest)).status).toBe(200)
    const wrong: object[] = [
      { description: 'x'.repeat(2_001) },
      { landing_page_url: url(2_049) },
      { landing_page_url: 'javascript:alert(1)' },
      { landing_page_url: 7 },
      { merchant_id: -1 },
    ]
    for (const edit of wrong) {
      const { status, body } = await setProfile({ ...longest, ...edit })
      expect([status, body], JSON.stringify(edit).slice(0, 80)).toEqual([
        400,
        { error: 'invalid request', detail: expect.any(String) },
      ])
    }
    expect((await get(merchant_id)).body).toMatchObject(longest)
  })
})
