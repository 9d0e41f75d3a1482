import {
  listProduct,
  mintUsdc,
  openMerchant,
  publishWithProof,
  registerIdentity,
} from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionOf } from './caller.ts'
import { buy, generic, productOf, startTestMarket, type TestMarket } from './market.ts'

const PATH = '/v1/spending-limits'
const [HERE, THERE] = [31_337, 31_338]
const FIELDS = ['chain_id', 'per_tx_cap_usdc', 'daily_cap_usdc', 'total_cap_usdc', 'updated_at']
const CAPS = ['per_tx_cap_usdc', 'daily_cap_usdc', 'total_cap_usdc']
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

let m: TestMarket
let owner: LocalAccount

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [HERE, THERE] })
  owner = m.market.accounts.reviewer
})
afterAll(() => m.close())

const post = (body: unknown, as = owner) => m.call('POST', PATH, { as, body })
const get = (chainId: number | string = HERE, as = owner) =>
  m.call('GET', `${PATH}?chain_id=${chainId}`, { as })
const refusal = (status: number, error: string) => [status, { error }]
const INVALID = [400, { error: 'invalid body', detail: expect.any(String) }]

/** While the work is done, limits can be written but not read. */
async function unreadable<T>(work: () => Promise<T>): Promise<T> {
  await m.sql.unsafe(`
    BEGIN;
    CREATE FUNCTION market.refuse() RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'cannot be read'; END $$;
    ALTER TABLE market.spending_limits RENAME TO spending_limits_away;
    CREATE VIEW market.spending_limits AS SELECT * FROM market.spending_limits_away WHERE market.refuse();
    COMMIT`)
  try {
    return await work()
  } finally {
    await m.sql.unsafe(`
      BEGIN;
      DROP VIEW market.spending_limits;
      DROP FUNCTION market.refuse();
      ALTER TABLE market.spending_limits_away RENAME TO spending_limits;
      COMMIT`)
  }
}

describe('POST /v1/spending-limits', () => {
  it('refuses a request without a signature [SPEND-04, SPEND-05]', async () => {
    const { status, body } = await m.call('POST', PATH, { body: { chain_id: HERE, daily_cap_usdc: 1 } })
    expect([status, body.error]).toEqual([401, 'unauthorized'])
  })

  it('answers with the five fields of the limit, the chain as an integer [SPEND-18, SPEND-30]', async () => {
    const caps = { per_tx_cap_usdc: 1, daily_cap_usdc: 20, total_cap_usdc: Number.MAX_SAFE_INTEGER }
    const { status, body } = await post({ chain_id: HERE, ...caps })
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual([...FIELDS].sort())
    expect(body).toEqual({ chain_id: HERE, ...caps, updated_at: expect.stringMatching(RFC3339) })
  })

  it('sets the moment itself and answers with what is stored [SPEND-19, SPEND-21]', async () => {
    const before = Date.now()
    const sent = { chain_id: HERE, daily_cap_usdc: 7, updated_at: '2001-01-01T00:00:00Z', owner: '0x00' }
    const { body } = await post(sent)
    expect(Date.parse(body.updated_at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(body.updated_at)).toBeLessThanOrEqual(Date.now())
    expect((await get()).body).toEqual(body)
    const [stored] = await m.sql<{ updated_at: Date }[]>`
      SELECT updated_at FROM market.spending_limits
      WHERE chain_id = ${HERE} AND owner = ${Buffer.from(owner.address.slice(2), 'hex')}`
    expect(Date.parse(body.updated_at)).toBe(stored?.updated_at.getTime())
  })

  it('keeps a cap of zero apart from one that is null or left out, which are unlimited [SPEND-13, SPEND-14, SPEND-15]', async () => {
    for (const zero of CAPS) {
      const [isNull, isAbsent] = CAPS.filter((cap) => cap !== zero)
      const { status, body } = await post({ chain_id: HERE, [zero]: 0, [String(isNull)]: null })
      const caps = { [zero]: 0, [String(isNull)]: null, [String(isAbsent)]: null }
      expect(status).toBe(200)
      expect(body).toEqual({ chain_id: HERE, ...caps, updated_at: expect.any(String) })
      expect((await get()).body).toEqual(body)
    }
  })

  it('replaces the whole limit [SPEND-16]', async () => {
    const unlimited = { per_tx_cap_usdc: null, daily_cap_usdc: null, total_cap_usdc: null }
    // Sets each cap alone after all three: caps that are left out must be removed.
    for (const cap of CAPS) {
      await post({ chain_id: HERE, per_tx_cap_usdc: 1, daily_cap_usdc: 2, total_cap_usdc: 3 })
      await post({ chain_id: HERE, [cap]: 5 })
      expect((await get()).body).toMatchObject({ ...unlimited, [cap]: 5 })
    }
    await post({ chain_id: HERE })
    expect((await get()).body).toMatchObject(unlimited)
    const [{ count } = { count: 0n }] = await m.sql<{ count: bigint }[]>`
      SELECT count(*) FROM market.spending_limits
      WHERE chain_id = ${HERE} AND owner = ${Buffer.from(owner.address.slice(2), 'hex')}`
    expect(count).toBe(1n)
  })

  it('is not lifted by a body that was signed for another route', async () => {
    const caps = { per_tx_cap_usdc: 1, daily_cap_usdc: 2, total_cap_usdc: 3 }
    await post({ chain_id: HERE, ...caps })
    const others = [
      { url: 'https://shop.example/hook', chain_id: HERE },
      {
        chain_id: HERE,
        agent_id: 3,
        type: 'buy_product',
        payload: { ref_link: 'https://market.example/r/x', max_amount: '1', idempotency_key: 'k' },
      },
    ]
    for (const other of others) {
      const { status, body } = await post(other)
      expect([status, body]).toEqual(INVALID)
      expect(body.detail).toContain('known fields are chain_id, per_tx_cap_usdc')
    }
    expect((await get()).body).toMatchObject(caps)
  })

  it('sets the limit of the chain in the body and of no other [SPEND-17]', async () => {
    await post({ chain_id: HERE, daily_cap_usdc: 100 })
    await post({ chain_id: THERE, daily_cap_usdc: 200 })
    const asked = Array.from({ length: 20 }, (_, at) => (at % 2 ? THERE : HERE))
    const read = await Promise.all(asked.map(async (chainId) => (await get(chainId)).body))
    expect(read.map(({ chain_id, daily_cap_usdc }) => [chain_id, daily_cap_usdc])).toEqual(
      asked.map((chainId) => [chainId, chainId === HERE ? 100 : 200]),
    )
  })

  it('sets the limit of the wallet that signed and of no other [SPEND-06]', async () => {
    const { merchant, admin } = m.market.accounts
    await post({ chain_id: HERE, daily_cap_usdc: 11 }, merchant)
    await post({ chain_id: HERE, daily_cap_usdc: 22, owner: merchant.address }, admin)
    expect((await get(HERE, merchant)).body.daily_cap_usdc).toBe(11)
    expect((await get(HERE, admin)).body.daily_cap_usdc).toBe(22)
    const token = await sessionOf(m.call, merchant)
    expect((await m.call('GET', `${PATH}?chain_id=${HERE}`, { token })).body.daily_cap_usdc).toBe(11)
  })

  it('needs a chain that is served [SPEND-07, SPEND-08]', async () => {
    for (const chain of [{ chain_id: 999_999_999 }, { chain_id: 0 }, { chain_id: -1 }, {}]) {
      const { status, body } = await post({ ...chain, daily_cap_usdc: 5 })
      expect([status, body]).toEqual(refusal(400, 'chain_id not configured'))
    }
    // The chain must be in the body; one in the query does not replace it.
    const answer = await m.call('POST', `${PATH}?chain_id=${HERE}`, {
      as: owner,
      body: { daily_cap_usdc: 6 },
    })
    expect([answer.status, answer.body]).toEqual(refusal(400, 'chain_id not configured'))
  })

  it.each(['{', '', 'x', '[]', '"text"', '5', '{"chain_id":"31337"}', '{"chain_id":31337.5}'])(
    'refuses the body `%s` [SPEND-09]',
    async (sent) => {
      const { status, body } = await post(sent)
      expect([status, body]).toEqual(INVALID)
    },
  )

  it.each([
    ['per_tx_cap_usdc', 'SPEND-10'],
    ['daily_cap_usdc', 'SPEND-11'],
    ['total_cap_usdc', 'SPEND-12'],
  ])('refuses a negative %s and stores nothing [%s]', async (cap) => {
    await post({ chain_id: HERE, per_tx_cap_usdc: 1, daily_cap_usdc: 2, total_cap_usdc: 3 })
    const before = (await get()).body
    for (const amount of [-1, -Number.MAX_SAFE_INTEGER]) {
      const { status, body } = await post({
        chain_id: HERE,
        per_tx_cap_usdc: 5,
        daily_cap_usdc: 5,
        total_cap_usdc: 5,
        [cap]: amount,
      })
      expect([status, body]).toEqual(refusal(400, 'caps must be non-negative'))
    }
    expect((await get()).body).toEqual(before)
  })

  it.each(CAPS)('refuses a %s that is no integer [SPEND-32]', async (cap) => {
    for (const amount of ['"5"', '1.5', '-0.5', 'true', '[1]', '{}', '9007199254740993', '1e400']) {
      const { status, body } = await post(`{"chain_id":${HERE},"${cap}":${amount}}`)
      expect([amount, status, body]).toEqual([amount, ...INVALID])
    }
  })

  it('does not compare caps with each other [SPEND-31]', async () => {
    const caps = { per_tx_cap_usdc: 10, daily_cap_usdc: 5, total_cap_usdc: 1 }
    const { status, body } = await post({ chain_id: HERE, ...caps })
    expect(status).toBe(200)
    expect(body).toMatchObject(caps)
  })

  it('has stored the limit when only reading it back failed, and tells no moment [SPEND-20, SPEND-21]', async () => {
    const { stranger } = m.market.accounts
    const caps = { per_tx_cap_usdc: 0, daily_cap_usdc: 9, total_cap_usdc: null }
    const answer = await unreadable(async () => {
      const stored = await post({ chain_id: THERE, per_tx_cap_usdc: 0, daily_cap_usdc: 9 }, stranger)
      expect((await get(THERE, stranger)).body).toEqual({ error: 'get failed' })
      return stored
    })
    expect([answer.status, answer.body]).toEqual([
      200,
      { chain_id: THERE, ...caps, updated_at: '0001-01-01T00:00:00Z' },
    ])
    const { status, body } = await get(THERE, stranger)
    expect(status).toBe(200)
    expect(body).toEqual({ chain_id: THERE, ...caps, updated_at: expect.not.stringMatching(/^0001/) })
  })

  it('says so when the limit cannot be stored [SPEND-22]', async () => {
    const { status, body } = await m.withoutTable('market.spending_limits', () =>
      post({ chain_id: HERE, daily_cap_usdc: 1 }),
    )
    expect([status, body]).toEqual(refusal(500, 'upsert failed'))
  })
})

describe('GET /v1/spending-limits', () => {
  it('refuses a request without a signature [SPEND-26]', async () => {
    const { status, body } = await m.call('GET', `${PATH}?chain_id=${HERE}`)
    expect([status, body.error]).toEqual([401, 'unauthorized'])
  })

  it('answers with the same five fields and a real moment [SPEND-29, SPEND-30]', async () => {
    await post({ chain_id: HERE, per_tx_cap_usdc: 3 })
    const { status, body } = await get()
    expect(status).toBe(200)
    expect(Object.keys(body).sort()).toEqual([...FIELDS].sort())
    expect(body.chain_id).toBe(HERE)
    expect(body.updated_at).toMatch(RFC3339)
    expect(Date.parse(body.updated_at)).toBeGreaterThan(Date.parse('2020-01-01T00:00:00Z'))
  })

  it('has no default chain [SPEND-23]', async () => {
    await post({ chain_id: HERE, per_tx_cap_usdc: 3 })
    const { status, body } = await m.call('GET', PATH, { as: owner })
    expect([status, body]).toEqual(refusal(400, 'chain_id required'))
  })

  it('refuses a chain that cannot be read [SPEND-24]', async () => {
    for (const chainId of ['x', '1.5', '31337x', '0x7a69', '9007199254740993']) {
      const { status, body } = await get(chainId)
      expect([chainId, status, body]).toEqual([chainId, ...refusal(400, 'invalid chain_id')])
    }
  })

  it('refuses a chain that is not served [SPEND-25]', async () => {
    for (const chainId of [999_999_999, 0, -1]) {
      const { status, body } = await get(chainId)
      expect([status, body]).toEqual(refusal(400, 'chain_id not configured'))
    }
  })

  it('tells a wallet that none is set, on a chain where it set none [SPEND-27]', async () => {
    const { guardian } = m.market.accounts
    await post({ chain_id: HERE, per_tx_cap_usdc: 3 }, guardian)
    const { status, body } = await get(THERE, guardian)
    expect([status, body]).toEqual(refusal(404, 'no spending limit set'))
    const fresh = await get(HERE, m.market.accounts.treasury)
    expect([fresh.status, fresh.body]).toEqual(refusal(404, 'no spending limit set'))
  })

  it('says so when limits cannot be read [SPEND-28]', async () => {
    const { status, body } = await m.withoutTable('market.spending_limits', () => get())
    expect([status, body]).toEqual(refusal(500, 'get failed'))
  })
})

it('a purchase above every cap of its owner is recorded like any other [SPEND-01]', async () => {
  const { market } = m
  const { merchant, reviewer, buyer } = market.accounts
  const product = { merchantId: await openMerchant(market, merchant), productId: productOf(1) }
  await listProduct(market, merchant, product)
  const reviewerAgentId = await registerIdentity(market, reviewer)
  const buyerAgentId = await registerIdentity(market, buyer)
  await mintUsdc(market, buyer.address, 1_000_000n)
  const review = { agentId: reviewerAgentId, product, content: generic(5, 'Good'), proofId: 1n }
  const { reviewId } = await publishWithProof(market, reviewer, review)
  const caps = { per_tx_cap_usdc: 0, daily_cap_usdc: 0, total_cap_usdc: 0 }
  expect((await post({ chain_id: HERE, ...caps }, buyer)).body).toMatchObject(caps)
  const { escrowId } = await buy(m, buyer, { product, reviewId, reviewerAgentId, buyerAgentId })
  await m.indexed()
  const { body } = await m.call('GET', `/v1/agent/${buyerAgentId}/escrows`, { as: buyer })
  expect(body.escrows).toMatchObject([{ escrow_id: Number(escrowId), role: 'buyer' }])
})
