import { listProduct, openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sessionOf } from './caller.ts'
import { NO_WORK, productOf, startTestMarket, type TestMarket } from './market.ts'
import { promisedTexts } from './promised.ts'

const BASE = { repeat: 0.5, one_off: 0.417 }
const COLD = {
  repeat: { rank: null, commission_multiplier_bps: 7_000, cold_start: true },
  one_off: { rank: null, commission_multiplier_bps: 6_502, cold_start: true },
}
const UNKNOWN = 4_242

let m: TestMarket
let agent: number
let product: Product

beforeAll(async () => {
  m = await startTestMarket({ overrides: NO_WORK })
  const { market } = m
  await registerIdentity(market, market.accounts.stranger)
  agent = Number(await registerIdentity(market, market.accounts.reviewer))
  product = { merchantId: await openMerchant(market, market.accounts.merchant), productId: productOf(1) }
  await listProduct(market, market.accounts.merchant, product)
  await m.indexed()
})
afterAll(() => m.close())

beforeEach(async () => {
  await m.sql`DELETE FROM market.review_ranks`
  await m.sql`DELETE FROM market.rank_sums`
})

const signed = () => ({ as: m.market.accounts.stranger })
const rankOf = (agentId: number | string, query = '') =>
  m.call('GET', `/v1/review-rank/${agentId}${query}`, signed())
const means = (query = '') => m.call('GET', `/v1/stats/mean-rank${query}`)
/** Inserts ranks as the follower does. */
const rank = (agentId: number, repeat: number | null, oneOff: number | null) => m.sql`
  INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off)
  VALUES (${m.chainId}, ${agentId}, ${repeat}, ${oneOff})`

describe('the Review Rank of an agent', () => {
  it('is for those who sign, whoever they are [RANK-01, RANK-02]', async () => {
    await rank(agent, 0.5, 0.25)
    const path = `/v1/review-rank/${agent}`
    expect(await m.call('GET', path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    const own = await m.call('GET', path, { as: m.market.accounts.reviewer })
    expect(own.status).toBe(200)
    expect(await m.call('GET', path, signed())).toMatchObject({ status: 200, text: own.text })
  })

  it.each(['-1', '-0.5', 'abc', '1.5', '1e3', '0x1', '9007199254740992'])(
    'is refused for the id %s [RANK-04, RANK-05]',
    async (id) => {
      expect(await rankOf(id)).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
    },
  )

  it('is that of agent 0 too [RANK-03]', async () => {
    await rank(0, 0.75, null)
    const { status, body } = await rankOf(0)
    expect(status).toBe(200)
    expect(body.repeat).toEqual({ rank: 0.75, commission_multiplier_bps: 8_500, cold_start: false })
  })

  it('is two ranks, the means of the platform and a flag [RANK-08, RANK-09, RANK-10, RANK-11, RANK-12]', async () => {
    await rank(agent, 0.5, 0.25)
    const { body } = await rankOf(agent)
    expect(Object.keys(body)).toEqual([
      'repeat',
      'one_off',
      'platform_mean_repeat',
      'platform_mean_one_off',
      'flagged',
    ])
    for (const type of ['repeat', 'one_off']) {
      expect(Object.keys(body[type])).toEqual(['rank', 'commission_multiplier_bps', 'cold_start'])
    }
  })

  it('is one for each product type, and null where there is none yet [RANK-13, RANK-14, RANK-15, RANK-17]', async () => {
    await rank(agent, 0.75, null)
    expect((await rankOf(agent)).body).toMatchObject({
      repeat: { rank: 0.75, commission_multiplier_bps: 8_500, cold_start: false },
      one_off: COLD.one_off,
    })
    await m.sql`DELETE FROM market.review_ranks`
    await rank(agent, null, 0.75)
    expect((await rankOf(agent)).body).toMatchObject({
      repeat: COLD.repeat,
      one_off: { rank: 0.75, commission_multiplier_bps: 8_500, cold_start: false },
    })
  })

  it.each([
    [0, 4_000],
    [0.000_01, 4_000],
    [0.123_45, 4_741],
    [0.25, 5_500],
    [0.5, 7_000],
    [0.999_99, 10_000],
    [1, 10_000],
  ])(
    'of %d makes a multiplier of %d basis points [RANK-16, RANK-18, RANK-19, RANK-20]',
    async (value, bps) => {
      await rank(agent, value, value)
      const shown = { rank: value, commission_multiplier_bps: bps, cold_start: false }
      expect((await rankOf(agent)).body).toMatchObject({ repeat: shown, one_off: shown })
    },
  )

  it('leaves an agent at its cold start the multiplier of the base rate, known or not [RANK-17, RANK-21]', async () => {
    for (const cold of [agent, UNKNOWN]) {
      expect(await rankOf(cold)).toMatchObject({ status: 200, body: { ...COLD, flagged: false } })
    }
    await rank(agent + 1, 0.9, 0.9)
    expect((await rankOf(agent)).body).toMatchObject(COLD)
  })

  it('is that of each agent when many are asked for at the same moment', async () => {
    await rank(agent, 0.25, null)
    await rank(agent + 1, 1, 0)
    const asked = [agent, agent + 1, Number.MAX_SAFE_INTEGER]
    const answers = await Promise.all(asked.map((agentId) => rankOf(agentId)))
    expect(answers.map(({ body }) => [body.repeat.rank, body.one_off.rank])).toEqual([
      [0.25, null],
      [1, 0],
      [null, null],
    ])
    for (const { body } of answers)
      expect(body).toMatchObject({ platform_mean_repeat: 0.625, platform_mean_one_off: 0 })
  })

  it('is 0 while the agent is flagged [RANK-22]', async () => {
    await rank(agent, 0.75, null)
    const { admin } = m.market.accounts
    const token = await sessionOf(m.call, admin)
    expect((await rankOf(agent)).body.flagged).toBe(false)
    expect((await m.call('POST', `/admin/agents/${agent}/flag`, { token })).status).toBe(200)
    try {
      const none = { rank: 0, commission_multiplier_bps: 4_000, cold_start: false }
      expect((await rankOf(agent)).body).toMatchObject({ repeat: none, one_off: none, flagged: true })
    } finally {
      await m.call('POST', `/admin/agents/${agent}/unflag`, { token })
    }
    expect((await rankOf(agent)).body).toMatchObject({ repeat: { rank: 0.75 }, flagged: false })
  })

  it('is not told without the database, nor of a chain that is not served [RANK-07, RANK-34]', async () => {
    await m.withoutTable('market.review_ranks', async () => {
      expect(await rankOf(agent)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
    expect(await rankOf(agent, '?chain_id=999999999')).toMatchObject({
      status: 400,
      body: { error: 'chain_id not configured' },
    })
  })

  it('promises `not found` and no other text with a 404 [RANK-06]', async () => {
    expect(await promisedTexts(m, '/v1/review-rank/{id}', 404)).toEqual(['not found'])
  })
})

describe('the mean rank', () => {
  it('is the base rate of a type in which nobody is ranked, for everybody to read [RANK-26, RANK-28, RANK-29, RANK-30]', async () => {
    expect(await means()).toMatchObject({ status: 200, body: BASE })
    await rank(agent, 0.75, null)
    expect((await means()).body).toEqual({ one_off: BASE.one_off, repeat: 0.75 })
    await m.sql`UPDATE market.review_ranks SET repeat = NULL, one_off = 0.25`
    expect((await means()).body).toEqual({ one_off: 0.25, repeat: BASE.repeat })
    await m.sql`DELETE FROM market.review_ranks`
    expect((await means()).body).toEqual(BASE)
  })

  it('is two numbers, and the same beside the rank of an agent [RANK-27, RANK-35]', async () => {
    for (const [at, repeat, oneOff] of [
      [0, 1, 0],
      [1, 0.25, null],
      [2, 0.625, 0.5],
    ] as const) {
      await rank(agent + at, repeat, oneOff)
    }
    const { body } = await means()
    expect(Object.keys(body)).toEqual(['one_off', 'repeat'])
    expect(body).toEqual({ one_off: 0.25, repeat: 0.625 })
    expect((await rankOf(agent)).body).toMatchObject({
      platform_mean_one_off: 0.25,
      platform_mean_repeat: 0.625,
    })
    await m.sql`DELETE FROM market.review_ranks`
    expect((await rankOf(agent)).body).toMatchObject({
      platform_mean_one_off: BASE.one_off,
      platform_mean_repeat: BASE.repeat,
    })
  })

  it('is not told without the database, nor of a chain that is not served [RANK-31, RANK-32]', async () => {
    expect(await means('?chain_id=999999999')).toMatchObject({
      status: 400,
      body: { error: 'chain_id not configured' },
    })
    await m.withoutTable('market.rank_sums', async () => {
      expect(await means()).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
    expect((await means(`?chain_id=${m.chainId}`)).body).toEqual(BASE)
  })
})

describe('the rank of a product', () => {
  it('is told with the product [RANK-24]', async () => {
    const read = async () =>
      (
        await m.call(
          'GET',
          `/v1/merchant/product?merchant_id=${product.merchantId}&product_id=${product.productId}`,
        )
      ).body
    expect((await read()).product_rank).toBe(0.5)
    await m.sql`UPDATE market.products SET rank = 0.8125 WHERE merchant_id = ${product.merchantId}`
    expect((await read()).product_rank).toBe(0.8125)
  })

  it('has no route of its own [RANK-23]', async () => {
    const { productId } = product
    for (const path of ['product-rank/x', `product-rank/${productId}`, `product/${productId}/rank`]) {
      expect((await m.call('GET', `/v1/${path}`, signed())).status, path).toBe(404)
    }
    const { paths } = (await m.call('GET', '/openapi.json')).body
    const ofAgents = ['/v1/agent/{id}/rank', '/v1/review-rank/{id}', '/v1/stats/mean-rank']
    expect(
      Object.keys(paths)
        .filter((path) => path.includes('rank'))
        .sort(),
    ).toEqual(ofAgents)
  })
})
