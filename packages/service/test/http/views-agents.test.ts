// What everybody may read about agents: the board of the best ones, a card, reviews, ranks.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Agents, EARNED, NOTHING_EARNED, OTHER_CHAIN, startAgents } from './agents.ts'
import { must } from './caller.ts'
import { setFlag } from './town.ts'

const CACHE_MS = 6_000
const UNKNOWN = 424_242

let a: Agents

async function get(path: string) {
  a.m.clock.aheadMs += CACHE_MS
  return a.m.call('GET', path)
}

beforeAll(async () => {
  a = await startAgents(3)
})
afterAll(() => a.m.close())

const cardOf = async (agentId: number) => (await get(`/v1/agent/${agentId}/card`)).body

describe('the card of an agent', () => {
  it('has its ranks, its reviews, its sales and its commission', async () => {
    expect(await get(`/v1/agent/${a.author}/card`)).toMatchObject({ status: 200 })
    expect(await cardOf(a.author)).toEqual({
      agent_id: a.author,
      owner_address: a.owner.address,
      flagged: false,
      review_rank_repeat: 0.75,
      review_rank_one_off: null,
      review_count: 3,
      sales_count: 2,
      commission: EARNED,
    })
  })

  it('is there for agent 0 and for an agent that nobody registered', async () => {
    const nothing = { review_count: 0, sales_count: 0, commission: NOTHING_EARNED, review_rank_repeat: null }
    expect(await cardOf(0)).toMatchObject({ agent_id: 0, ...nothing })
    expect(await cardOf(a.learned)).toMatchObject({ agent_id: a.learned, ...nothing })
  })

  it('is refused for an unknown agent, and of another chain', async () => {
    expect(await get(`/v1/agent/${UNKNOWN}/card`)).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
    expect(await get(`/v1/agent/${a.plain}/card?chain_id=${OTHER_CHAIN}`)).toMatchObject({ status: 404 })
    expect(await get('/v1/agent/-1/card')).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
  })
})

describe('the reviews of an agent', () => {
  const read = (query = '') => get(`/v1/agent/${a.author}/reviews${query}`)

  it('are the published ones, newest first, with votes and sales', async () => {
    const { m, author } = a
    const [first, second] = a.reviewed
    await m.sql`UPDATE market.products SET name = 'The first' WHERE product_id = ${Buffer.from(first?.productId.slice(2) ?? '', 'hex')}`
    const { status, body } = await read()
    expect(status).toBe(200)
    expect({ ...body, reviews: body.reviews.length }).toEqual({
      reviews: 3,
      page: 1,
      limit: 20,
      has_more: false,
    })
    const published = await must(m.call('GET', '/v1/review'))
    const own = published.reviews.filter(({ agent_id }: { agent_id: number }) => agent_id === author)
    const figures = { votes: { count: 0, qualifying: 0 }, sales_count: 0 }
    expect(body.reviews).toEqual([
      { ...own[0], ...figures, product_name: 'The first' },
      { ...own[1], ...figures, product_name: '' },
      { ...own[2], ...figures, product_name: 'The first', sales_count: 2 },
    ])
    expect(body.reviews[1].product_id).toBe(second?.productId)
  })

  it('are read page by page', async () => {
    const { body: all } = await read()
    const pages = [(await read('?limit=2')).body, (await read('?limit=2&page=2')).body]
    expect(pages.map(({ has_more }) => has_more)).toEqual([true, false])
    expect(pages.flatMap(({ reviews }) => reviews)).toEqual(all.reviews)
    expect((await read('?limit=2&page=3')).body).toEqual({ reviews: [], page: 3, limit: 2, has_more: false })
    expect((await read('?page=9007199254740991&limit=100')).body).toMatchObject({
      reviews: [],
      has_more: false,
    })
  })

  it('are none of an agent that wrote none, and refused of an unknown agent', async () => {
    expect((await get(`/v1/agent/${a.plain}/reviews`)).body.reviews).toEqual([])
    expect(await get(`/v1/agent/${UNKNOWN}/reviews`)).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
  })

  it('leave out a review whose text is gone, and count it no more', async () => {
    const { m, author } = a
    const { reviews } = (await read()).body
    const { internal_id } = reviews[0]
    const [kept] = await m.sql<[{ content: string }]>`
      UPDATE market.reviews AS m SET content = NULL FROM market.reviews AS old
      WHERE m.internal_id = ${internal_id} AND old.internal_id = m.internal_id RETURNING old.content`
    expect((await read()).body.reviews).toEqual(reviews.slice(1))
    expect(await cardOf(author)).toMatchObject({ review_count: 2 })
    await m.sql`UPDATE market.reviews SET content = ${kept.content} WHERE internal_id = ${internal_id}`
    expect((await read()).body.reviews).toEqual(reviews)
    expect(await cardOf(author)).toMatchObject({ review_count: 3 })
  })
})

describe('the rank of an agent', () => {
  it('is the answer that signers get, to everybody', async () => {
    const { m, owner, author } = a
    for (const query of ['', '?explain=true', '?explain=true&limit=1&offset=1']) {
      const signed = await must(m.call('GET', `/v1/review-rank/${author}${query}`, { as: owner }))
      expect(await get(`/v1/agent/${author}/rank${query}`)).toMatchObject({ status: 200, body: signed })
    }
    expect((await get(`/v1/agent/${UNKNOWN}/rank`)).body.repeat).toMatchObject({
      rank: null,
      cold_start: true,
    })
  })
})

describe('the leaderboard', () => {
  const board = async (query = '') => {
    const { body } = await get(`/v1/leaderboard${query}`)
    return body.agents.map((agent: { position: number; agent_id: number }) => [
      agent.position,
      agent.agent_id,
    ])
  }

  it('has the agents with a rank, best first; of the same rank those with more sales, then by id', async () => {
    const { m, author, plain, all } = a
    const others = all.slice(-3) as [number, number, number]
    await m.sql`
      INSERT INTO market.review_ranks (chain_id, agent_id, repeat)
      SELECT ${m.chainId}, * FROM unnest(${others}::bigint[], ARRAY[0.75, 0.9, 0.75])`
    expect(await board()).toEqual([
      [1, others[1]],
      [2, author],
      [3, others[0]],
      [4, others[2]],
    ])
    expect(await board('?type=one_off')).toEqual([[1, plain]])
    const { body } = await get('/v1/leaderboard?type=repeat&limit=2&page=1')
    expect(body).toEqual({
      type: 'repeat',
      agents: [
        { ...(await cardOf(others[1])), position: 1 },
        { ...(await cardOf(author)), position: 2 },
      ],
      page: 1,
      limit: 2,
      has_more: true,
    })
    expect(await board('?limit=3&page=2')).toEqual([[4, others[2]]])
    expect(await board(`?chain_id=${OTHER_CHAIN}`)).toEqual([])
  })

  it('leaves out a flagged agent at once', async () => {
    const { m, author } = a
    const before = await board()
    await setFlag(m, { agentId: BigInt(author) }, 'flag')
    expect(await board()).toEqual(
      before
        .filter(([, agentId]: [number, number]) => agentId !== author)
        .map(([, agentId]: [number, number], at: number) => [at + 1, agentId]),
    )
    expect(await cardOf(author)).toMatchObject({ flagged: true, review_rank_repeat: 0 })
    await setFlag(m, { agentId: BigInt(author) }, 'unflag')
    expect(await board()).toEqual(before)
  })

  it('is refused for another type, and ends where nobody reads', async () => {
    expect(await get('/v1/leaderboard?type=other')).toMatchObject({
      status: 400,
      body: { error: 'invalid type' },
    })
    expect((await get('/v1/leaderboard?page=101&limit=100')).body).toMatchObject({
      agents: [],
      has_more: false,
    })
  })
})
