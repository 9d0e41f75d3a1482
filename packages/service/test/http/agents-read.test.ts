import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agents, CARD, EARNED, NOTHING_EARNED, OTHER_CHAIN, startAgents } from './agents.ts'
import { must, sessionOf } from './caller.ts'

const KEYS = [
  'agent_id',
  'agent_uri',
  'commission',
  'flagged',
  'owner_address',
  'payment_wallet',
  'registered_at',
  'review_count',
  'review_rank_one_off',
  'review_rank_repeat',
  'reviewed_products',
]

let world: Agents

beforeAll(async () => {
  world = await startAgents(1)
})
afterAll(() => world.m.close())

const read = (agentId: number | string, query = '') => world.m.call('GET', `/v1/agent/${agentId}${query}`)

describe('an agent', () => {
  it('is shown to anybody, with all that it told [AGENT-34, AGENT-40, AGENT-41, AGENT-42, AGENT-43]', async () => {
    const { author, owner, reviewed } = world
    const { status, body } = await read(author)
    expect(status).toBe(200)
    expect(body).toEqual({
      agent_id: author,
      owner_address: owner.address,
      agent_uri: CARD,
      payment_wallet: owner.address,
      review_rank_repeat: 0.75,
      review_rank_one_off: null,
      registered_at: expect.any(String),
      commission: EARNED,
      flagged: false,
      review_count: 3,
      reviewed_products: reviewed.map(({ merchantId, productId }) => ({
        merchant_id: Number(merchantId),
        product_id: productId,
      })),
    })
  })

  it('says the same as its entry in the list [AGENT-40, AGENT-41, AGENT-42, AGENT-43]', async () => {
    const { body } = await world.m.call('GET', `/v1/agent?owner=${world.owner.address}`)
    expect(body.agents).toHaveLength(3)
    for (const entry of body.agents) expect((await read(entry.agent_id)).body).toMatchObject(entry)
  })

  it('has its moment in whole seconds of UTC [AGENT-72]', async () => {
    for (const agentId of [world.author, world.learned]) {
      expect((await read(agentId)).body.registered_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
    }
  })

  it('that is only known from the chain has every key, empty or null [AGENT-44, AGENT-45, AGENT-46, AGENT-47, AGENT-48]', async () => {
    const { body } = await read(world.learned)
    expect(Object.keys(body).sort()).toEqual(KEYS)
    expect(body).toEqual({
      agent_id: world.learned,
      owner_address: world.owner.address,
      agent_uri: '',
      payment_wallet: '',
      review_rank_repeat: null,
      review_rank_one_off: null,
      registered_at: expect.any(String),
      commission: NOTHING_EARNED,
      flagged: false,
      review_count: 0,
      reviewed_products: [],
    })
  })

  it('that has no URI has an empty one, and a rank of one kind only has null for the other [AGENT-44, AGENT-47]', async () => {
    const { body } = await read(world.plain)
    expect(Object.keys(body).sort()).toEqual(KEYS)
    expect(body).toMatchObject({
      agent_uri: '',
      payment_wallet: world.owner.address,
      review_rank_repeat: null,
      review_rank_one_off: 0.5,
    })
  })

  it('tells whether it is flagged, as a boolean [AGENT-49]', async () => {
    const { m, all } = world
    const agentId = all.at(-1) ?? 0
    const token = await sessionOf(m.call, m.market.accounts.admin)
    expect((await read(agentId)).body.flagged).toBe(false)
    const flag = await m.call('POST', `/admin/agents/${agentId}/flag`, { token })
    expect(flag.status).toBe(200)
    expect((await read(agentId)).body.flagged).toBe(true)
    expect((await read(world.author)).body.flagged).toBe(false)
  })

  it('that is flagged has the rank 0, computed or not, alone and in the list', async () => {
    const { m, plain } = world
    const token = await sessionOf(m.call, m.market.accounts.admin)
    const ranks = { review_rank_repeat: 0, review_rank_one_off: 0 }
    await must(m.call('POST', `/admin/agents/${plain}/flag`, { token }))
    try {
      expect((await read(plain)).body).toMatchObject(ranks)
      const { agents } = (await m.call('GET', `/v1/agent?owner=${world.owner.address}`)).body
      expect(agents.at(-1)).toMatchObject({ agent_id: plain, ...ranks })
    } finally {
      await m.call('POST', `/admin/agents/${plain}/unflag`, { token })
    }
  })

  it('counts its published reviews, and names every product once [AGENT-50, AGENT-51]', async () => {
    const { body: listing } = await world.m.call('GET', '/v1/review')
    const own = listing.reviews.filter(({ agent_id }: { agent_id: number }) => agent_id === world.author)
    const { body } = await read(world.author)
    expect(own).toHaveLength(3)
    expect(body.review_count).toBe(own.length)
    for (const product of body.reviewed_products) {
      expect(Object.keys(product).sort()).toEqual(['merchant_id', 'product_id'])
      expect(Number.isInteger(product.merchant_id)).toBe(true)
      expect(product.product_id).toMatch(/^0x[0-9a-f]{64}$/)
    }
    const named = body.reviewed_products.map(({ product_id }: { product_id: string }) => product_id)
    expect(named).toEqual(world.reviewed.map(({ productId }) => productId))
  })
})

describe('what is no agent', () => {
  it.each([
    ['0, though there is an agent 0 [AGENT-35]', '0'],
    ['a negative number [AGENT-36]', '-1'],
    ['a word [AGENT-37]', 'abc'],
    ['a fraction [AGENT-37]', '1.5'],
    ['hex [AGENT-37]', '0x1'],
    ['a number that a double cannot hold [AGENT-37]', '9007199254740992'],
  ])('is refused: %s', async (_, agentId) => {
    const { status, body } = await read(agentId)
    expect([status, body]).toEqual([400, { error: 'invalid agent id' }])
    expect(world.all[0]).toBe(0)
  })

  it('is not found, also when it is one of another chain [AGENT-38]', async () => {
    const { status, body } = await read(99_999_999)
    expect([status, body]).toEqual([404, { error: 'agent not found' }])
    const here = world.all.at(-1) ?? 0
    expect(await read(here, `?chain_id=${OTHER_CHAIN}`)).toMatchObject({ status: 404 })
    const there = world.elsewhere.at(-1) ?? 0
    const { body: other } = await read(there, `?chain_id=${OTHER_CHAIN}`)
    expect(other).toMatchObject({ agent_id: there, owner_address: world.m.market.accounts.stranger.address })
  })

  it('is refused for a chain that is not served [AGENT-73]', async () => {
    const { status, body } = await read(world.author, '?chain_id=999999999')
    expect([status, body]).toEqual([400, { error: 'chain_id not configured' }])
  })

  it('is not what a broken store makes of an agent: that is an internal error [AGENT-39]', async () => {
    await world.m.withoutTable('market.agents', async () => {
      const { status, body } = await read(world.author)
      expect([status, body]).toEqual([500, { error: 'internal error' }])
    })
  })
})
