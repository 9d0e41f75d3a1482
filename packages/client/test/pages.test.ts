import { registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startVoting, type Voting } from '../../service/test/http/voting.ts'
import { createReferrerClient } from '../src/index.ts'
import { answering, clientOf, standIn, thrown } from './world.ts'

let v: Voting

beforeAll(async () => {
  v = await startVoting()
  for (let count = 0; count < 3; count++) await registerIdentity(v.m.market, v.buyer.owner)
  for (let count = 0; count < 3; count++) await v.bought()
  await v.m.indexed()
})
afterAll(() => v?.m.close())

const all = async <T>(entries: AsyncIterable<T>) => {
  const found: T[] = []
  for await (const entry of entries) found.push(entry)
  return found
}

describe('pages', () => {
  it('gives every entry once, of a listing by pages', async () => {
    const market = clientOf(v.m)
    const reviews = await all(market.pages('/v1/review', { params: { query: { limit: 2 } } }))
    const ids = [v.link, ...v.others].map(({ internalId }) => internalId)
    expect(reviews.map(({ internal_id }) => internal_id)).toEqual(ids.reverse())
    expect(market.asked.map(({ path }) => path)).toEqual([
      '/v1/review?limit=2&page=1',
      '/v1/review?limit=2&page=2',
    ])
  })

  it('gives every entry once, of a listing by offset, signed', async () => {
    const market = clientOf(v.m, { account: v.buyer.owner })
    const escrows = await all(
      market.pages('/v1/agent/{id}/escrows', {
        params: { path: { id: Number(v.buyer.agentId) }, query: { limit: 2 } },
      }),
    )
    expect(new Set(escrows.map(({ escrow_id }) => escrow_id)).size).toBe(3)
    expect(escrows.length).toBe(3)
    expect(market.asked.map(({ path }) => path.split('?')[1])).toEqual([
      'limit=2&offset=0',
      'limit=2&offset=2',
    ])
  })

  it('gives every entry once, of a listing that says whether there is more, and asks no further then', async () => {
    const market = clientOf(v.m)
    const { merchantId, productId } = v.product
    const query = { merchant_id: Number(merchantId), product_id: productId, limit: 2 }
    const reviews = await all(market.pages('/v1/product/reviews', { params: { query } }))
    expect(reviews.map(({ author }) => author.agent_id).sort()).toEqual(
      [v.link, ...v.others].map(({ agentId }) => Number(agentId)).sort(),
    )
    expect(market.asked.map(({ path }) => new URLSearchParams(path).get('page'))).toEqual(['1', '2'])
  })

  it('asks for as many as the route gives at once, and for no more where more is wanted', async () => {
    const market = clientOf(v.m)
    await all(market.pages('/v1/agent'))
    await all(market.pages('/v1/agent', { params: { query: { limit: 9_999 } } }))
    expect(market.asked.map(({ path }) => path)).toEqual(Array(2).fill('/v1/agent?limit=500&page=1'))
  })

  it('begins where it is told to', async () => {
    const market = clientOf(v.m)
    const [whole, rest] = [
      await all(market.pages('/v1/agent')),
      await all(market.pages('/v1/agent', { params: { query: { page: 2, limit: 3 } } })),
    ]
    expect(rest).toEqual(whole.slice(3))
  })

  it('ends after as many entries as are wanted, and asks for no more than those', async () => {
    const market = clientOf(v.m)
    const agents = await all(market.pages('/v1/agent', { most: 3 }))
    expect(agents.map(({ agent_id }) => agent_id)).toEqual([0, 1, 2])
    const more = await all(market.pages('/v1/agent', { most: 3, params: { query: { limit: 2 } } }))
    expect(more).toEqual(agents)
    expect(await all(market.pages('/v1/agent', { most: 0 }))).toEqual([])
    expect(market.asked.map(({ path }) => path)).toEqual([
      '/v1/agent?limit=3&page=1',
      '/v1/agent?limit=2&page=1',
      '/v1/agent?limit=2&page=2',
    ])
  })

  it('asks no further when the loop is left', async () => {
    const market = clientOf(v.m)
    for await (const _ of market.pages('/v1/agent', { params: { query: { limit: 1 } } })) break
    expect(market.asked.length).toBe(1)
  })

  it('asks once where the answer has no pages: one owner, one product', async () => {
    const market = clientOf(v.m)
    const { address } = v.buyer.owner
    const query = { owner: address, limit: 1 }
    const owned = await all(market.pages('/v1/agent', { params: { query } }))
    expect(owned.length).toBe(4)
    expect(market.asked.length).toBe(1)
    const product = { merchant_id: Number(v.merchantId), product_id: v.product.productId }
    expect(
      (await all(market.pages('/v1/review', { params: { query: { ...product, limit: 1 } } }))).length,
    ).toBe(4)
    expect(market.asked.length).toBe(2)
  })

  it('ends with an error where a listing never ends, or is none', async () => {
    const session = { token: 'A'.repeat(43), expires_at: '2100-01-01T00:00:00Z' }
    const endless = createReferrerClient({
      url: 'https://market.test',
      session,
      fetch: async () => Response.json({ escrows: [{ escrow_id: 1 }] }),
    })
    const request = { params: { path: { id: 1 }, query: { limit: 1 } } }
    const error = await thrown(all(endless.pages('/v1/agent/{id}/escrows', request)))
    expect(error.message).toContain('the listing has not ended after 10000 pages')

    const none = await standIn(answering(200, { reviews: 'none' }))
    await expect(all(createReferrerClient({ url: none.url }).pages('/v1/review'))).rejects.toThrow(
      'the answer has no list of reviews',
    )
    await none.close()
  })
})
