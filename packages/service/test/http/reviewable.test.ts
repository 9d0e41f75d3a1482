import {
  type EscrowDeposit,
  listProduct,
  mintUsdc,
  openMerchant,
  type Product,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must } from './caller.ts'
import { publishBuyerReview } from './escrows.ts'
import { buy, generic, NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { promisedTexts } from './promised.ts'

/** More than a list shows at most. */
const LISTED = 205
const [WEATHER, ATLAS, PLAIN] = [productOf(1), productOf(2), productOf(3)]
const FIELDS = [
  'product_id',
  'merchant_id',
  'name',
  'description',
  'category',
  'product_type',
  'commission_bps',
]
const ALL = Array.from({ length: LISTED }, (_, at) => productOf(at + 1))

let m: TestMarket
let merchantId: bigint
let reviewer: bigint
/** Bought WEATHER twice, ATLAS once, and PLAIN, which it has reviewed. */
let buyer: bigint
/** Has bought nothing. */
let newcomer: bigint
let bought: { weather: EscrowDeposit[]; atlas: EscrowDeposit }
let reviews: Record<string, bigint>

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, 31_338], overrides: NO_WORK })
  const { market } = m
  const { accounts } = market
  merchantId = await openMerchant(market, accounts.merchant)
  await list(WEATHER, { commissionBps: 1_111 })
  await list(ATLAS, { commissionBps: 2_222, oneOff: true })
  for (const productId of ALL.slice(2)) await list(productId)
  reviewer = await registerIdentity(market, accounts.reviewer)
  buyer = await registerIdentity(market, accounts.buyer)
  newcomer = await registerIdentity(market, accounts.stranger)
  await mintUsdc(market, accounts.buyer.address, 1_000_000_000n)
  await m.indexed()
  await post('/v1/merchant/register', { merchant_id: Number(merchantId) })
  await describeProduct(WEATHER, { name: 'Weather', description: 'Of tomorrow', category: 'api' })
  await describeProduct(ATLAS, { name: 'Atlas', description: 'Of the world', category: 'books' })

  reviews = {}
  for (const [at, productId] of [WEATHER, ATLAS, PLAIN].entries()) {
    const review = { agentId: reviewer, product: of(productId), content: generic(5, 'Good') }
    const published = await publishWithProof(market, accounts.reviewer, {
      ...review,
      proofId: BigInt(at + 1),
    })
    reviews[productId] = published.reviewId
  }
  bought = { weather: [await purchase(WEATHER), await purchase(WEATHER)], atlas: await purchase(ATLAS) }
  await review(await purchase(PLAIN))
})
afterAll(() => m.close())

const of = (productId: Product['productId']): Product => ({ merchantId, productId })
const list = (productId: Product['productId'], terms = {}) =>
  listProduct(m.market, m.market.accounts.merchant, of(productId), terms)

const post = (path: string, body: object, as = m.market.accounts.merchant) =>
  must(m.call('POST', path, { as, body }))

const describeProduct = (product_id: string, words: object) =>
  post('/v1/merchant/product', {
    merchant_id: Number(merchantId),
    product_id,
    endpoint_url: 'https://shop.example/buy',
    ...words,
  })

function purchase(productId: Product['productId'], buyerAgentId = buyer): Promise<EscrowDeposit> {
  const reviewId = reviews[productId]
  if (!reviewId) throw new Error('nobody has reviewed it')
  const sold = { product: of(productId), reviewId, reviewerAgentId: reviewer, buyerAgentId }
  return buy(m, m.market.accounts.buyer, sold)
}

/** Publishes the buyer's review of a purchase and registers its text. */
async function review(deposit: EscrowDeposit): Promise<void> {
  const { buyer: owner } = m.market.accounts
  const body = await publishBuyerReview(m, owner, deposit)
  await m.indexed()
  await post('/v1/review/register', body, owner)
}

const get = (id: bigint | string, query = '') =>
  m.call('GET', `/v1/agent/${id}/reviewable${query}`, { as: m.market.accounts.stranger })
const productsOf = async (id: bigint, query = '') => (await get(id, query)).body.products
const idsOf = async (id: bigint, query = ''): Promise<string[]> =>
  (await productsOf(id, query)).map(({ product_id }: { product_id: string }) => product_id)
const refused = (error: string) => [400, { error }]
const weather = () => ({
  product_id: WEATHER,
  merchant_id: Number(merchantId),
  name: 'Weather',
  description: 'Of tomorrow',
  category: 'api',
  product_type: 'Repeat',
  commission_bps: 1_111,
})
const atlas = () => ({
  product_id: ATLAS,
  merchant_id: Number(merchantId),
  name: 'Atlas',
  description: 'Of the world',
  category: 'books',
  product_type: 'One-off',
  commission_bps: 2_222,
})

describe('GET /v1/agent/{id}/reviewable', () => {
  it('refuses a request without a signature [RVBL-01]', async () => {
    const { status, body } = await m.call('GET', `/v1/agent/${buyer}/reviewable`)
    expect([status, body.error]).toEqual([401, 'unauthorized'])
  })

  it('answers whoever signs, the owner of the agent or not [RVBL-02]', async () => {
    const { buyer: owner, stranger, treasury } = m.market.accounts
    const path = `/v1/agent/${buyer}/reviewable?needs_review=true`
    const [own, ...others] = await Promise.all(
      [owner, stranger, treasury].map((as) => m.call('GET', path, { as })),
    )
    expect(own?.body.products).toHaveLength(2)
    for (const { status, text } of others) expect([status, text]).toEqual([200, own?.text])
  })

  it('refuses an agent whose id is negative or no integer, and takes 0 [RVBL-03, RVBL-04]', async () => {
    for (const id of ['-1', 'abc', '1.5', '0x1', '1e3', '9007199254740993']) {
      const { status, body } = await get(id)
      expect([id, status, body]).toEqual([id, ...refused('invalid agent id')])
    }
    expect((await get('0')).status).toBe(200)
  })

  it('promises `not found` and no other text for what is not there [RVBL-18]', async () => {
    expect(await promisedTexts(m, '/v1/agent/{id}/reviewable', 404)).toEqual(['not found'])
  })

  it('answers 500 while the records cannot be read [RVBL-19]', async () => {
    for (const query of ['', '?needs_review=true']) {
      const { status, body } = await m.withoutTable('market.products', () => get(buyer, query))
      expect([status, body]).toEqual([500, { error: 'internal error' }])
    }
  })

  it('answers for the chain that is asked for, and refuses one that is not served [RVBL-32, RVBL-20]', async () => {
    const { status, body } = await get(buyer, '?chain_id=999999999')
    expect([status, body]).toEqual(refused('chain_id not configured'))
    expect((await get(buyer, '?chain_id=31338')).body).toEqual({ products: [] })
    expect((await get(buyer, '?chain_id=31337')).text).toBe((await get(buyer)).text)
  })
})

describe('products that an agent has not bought', () => {
  it('are all on sale but those that it bought, reviewed or not [RVBL-09]', async () => {
    const pages = (id: bigint) => Promise.all([0, 200].map((at) => idsOf(id, `?limit=200&offset=${at}`)))
    expect((await pages(newcomer)).flat()).toEqual(ALL)
    expect((await pages(buyer)).flat()).toEqual(ALL.slice(3))
    expect((await pages(999_999n)).flat()).toEqual(ALL)
  })

  it('have these fields and no escrow [RVBL-21, RVBL-22, RVBL-23, RVBL-24, RVBL-25, RVBL-26, RVBL-27, RVBL-28, RVBL-30, RVBL-33]', async () => {
    const products = await productsOf(newcomer, '?limit=3&needs_review=false')
    for (const product of products) expect(Object.keys(product).sort()).toEqual([...FIELDS].sort())
    expect(products).toEqual([
      weather(),
      atlas(),
      {
        product_id: PLAIN,
        merchant_id: Number(merchantId),
        name: '',
        description: '',
        category: '',
        product_type: 'Repeat',
        commission_bps: 1_000,
      },
    ])
  })

  it.each([
    ['', 50, 'RVBL-11'],
    ['?limit=0', 1, 'RVBL-12'],
    ['?limit=-7', 1, 'RVBL-12'],
    ['?limit=1', 1, 'RVBL-12'],
    ['?limit=200', 200, 'RVBL-13'],
    ['?limit=201', 200, 'RVBL-13'],
    ['?limit=500', 200, 'RVBL-13'],
  ])('/reviewable%s gives the first %i [%s]', async (query, count) => {
    expect(await idsOf(newcomer, query)).toEqual(ALL.slice(0, count))
  })

  it('begin after the offset, which is 0 when it is left out or negative [RVBL-15, RVBL-16]', async () => {
    for (const query of ['?limit=3', '?limit=3&offset=0', '?limit=3&offset=-5'])
      expect(await idsOf(newcomer, query)).toEqual(ALL.slice(0, 3))
    expect(await idsOf(newcomer, '?limit=3&offset=2')).toEqual(ALL.slice(2, 5))
    for (const beyond of [LISTED, Number.MAX_SAFE_INTEGER])
      expect(await idsOf(newcomer, `?offset=${beyond}`)).toEqual([])
  })

  it.each([
    ['limit', 'RVBL-14'],
    ['offset', 'RVBL-17'],
  ])('are refused for a %s that is no integer [%s]', async (name) => {
    for (const given of ['x', '1.5', '1e2', '0x10', '9007199254740993']) {
      const { status, body } = await get(newcomer, `?${name}=${given}`)
      expect([given, status, body]).toEqual([given, ...refused(`invalid ${name}`)])
    }
  })

  it('can be narrowed to a category [RVBL-10]', async () => {
    expect(await idsOf(newcomer, '?category=api')).toEqual([WEATHER])
    expect(await idsOf(newcomer, '?category=books')).toEqual([ATLAS])
    expect(await idsOf(buyer, '?category=books')).toEqual([])
    expect(await idsOf(newcomer, '?category=')).toEqual(await idsOf(newcomer))
    for (const category of ['none', 'API', 'ap', 'a'.repeat(65), '%00', '%F0%9F%A6%8A'])
      expect(await idsOf(newcomer, `?category=${category}`), category).toEqual([])
  })
})

describe('products that an agent has to review', () => {
  it.each(['true', '1', 't', 'T', 'TRUE', 'True'])(
    'are asked for with needs_review=%s [RVBL-06]',
    async (yes) => {
      expect(await idsOf(buyer, `?needs_review=${yes}`)).toEqual([WEATHER, ATLAS])
    },
  )

  it.each(['false', '0', 'f', 'F', 'FALSE', 'False'])(
    'are not asked for with needs_review=%s, nor without it [RVBL-05, RVBL-06]',
    async (no) => {
      const { status, text } = await get(buyer, `?needs_review=${no}`)
      expect([status, text]).toEqual([200, (await get(buyer)).text])
      expect(text).not.toContain(WEATHER)
    },
  )

  it('are refused for any other needs_review [RVBL-07]', async () => {
    for (const given of ['yes', 'no', 'tRUE', 'y', '2', '-1', 'null']) {
      const { status, body } = await get(buyer, `?needs_review=${given}`)
      expect([given, status, body]).toEqual([given, ...refused('invalid needs_review')])
    }
  })

  it('have the same fields and the newest of their purchases, each once [RVBL-21, RVBL-28, RVBL-29, RVBL-31]', async () => {
    const [first, second] = bought.weather
    expect(Number(second?.escrowId)).toBeGreaterThan(Number(first?.escrowId))
    expect(await productsOf(buyer, '?needs_review=true')).toEqual([
      { ...weather(), escrow_id: Number(second?.escrowId) },
      { ...atlas(), escrow_id: Number(bought.atlas.escrowId) },
    ])
  })

  it('come with a purchase and go with its review [RVBL-08]', async () => {
    const agent = await registerIdentity(m.market, m.market.accounts.buyer)
    const toReview = () => idsOf(agent, '?needs_review=true')
    expect(await toReview()).toEqual([])
    const deposit = await purchase(PLAIN, agent)
    await m.indexed()
    expect(await toReview()).toEqual([PLAIN])
    await review(deposit)
    expect(await toReview()).toEqual([])
    expect(await idsOf(buyer, '?needs_review=true')).not.toContain(PLAIN)
  })

  it('are none, as an empty array, for an agent that bought nothing or that nobody knows [RVBL-20]', async () => {
    for (const id of [newcomer, 999_999n])
      expect((await get(id, '?needs_review=true')).text).toBe('{"products":[]}')
  })

  it('can be narrowed and paged like the others [RVBL-10, RVBL-12, RVBL-16]', async () => {
    const asked = (query: string) => idsOf(buyer, `?needs_review=true&${query}`)
    expect(await asked('category=books')).toEqual([ATLAS])
    expect(await asked('category=none')).toEqual([])
    expect(await asked('limit=0')).toEqual([WEATHER])
    expect(await asked('limit=1&offset=1')).toEqual([ATLAS])
    expect(await asked('offset=-1')).toEqual([WEATHER, ATLAS])
    expect(await asked(`offset=${Number.MAX_SAFE_INTEGER}`)).toEqual([])
  })
})
