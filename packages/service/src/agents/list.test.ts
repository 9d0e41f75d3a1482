import { registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from '../../test/http/market.ts'
import { flagAgent } from './store.ts'

let m: TestMarket

beforeAll(async () => {
  m = await startTestMarket()
  for (let minted = 0; minted < 3; minted += 1) await registerIdentity(m.market, m.market.accounts.reviewer)
  await m.indexed()
})
afterAll(() => m.close())

it('answers a page far beyond the last one with nothing, and with the total', async () => {
  const page = Number.MAX_SAFE_INTEGER
  const { status, body } = await m.call('GET', `/v1/agent?page=${page}&limit=500`)
  expect(status).toBe(200)
  expect(body).toEqual({ agents: [], total: 3, page, limit: 500 })
})

it('answers many questions at the same moment, each with its own page', async () => {
  const pages = Array.from({ length: 40 }, (_, at) => (at % 3) + 1)
  const answers = await Promise.all(pages.map((page) => m.call('GET', `/v1/agent?limit=1&page=${page}`)))
  expect(answers.map(({ body }) => body.agents[0].agent_id)).toEqual(pages.map((page) => page - 1))
})

it('shows the rank of a flagged agent as 0, whether it was computed or not', async () => {
  await m.sql`INSERT INTO market.review_ranks VALUES (${m.chainId}, 1, 0.75, NULL)`
  const ranks = async () => (await m.call('GET', '/v1/agent/1')).body
  expect(await ranks()).toMatchObject({ review_rank_repeat: 0.75, review_rank_one_off: null, flagged: false })
  expect(await flagAgent(m.sql, m.chainId, 1n, true)).toBe(true)
  expect(await ranks()).toMatchObject({ review_rank_repeat: 0, review_rank_one_off: 0, flagged: true })
  const { body } = await m.call('GET', '/v1/agent')
  expect(body.agents[1]).toMatchObject({ review_rank_repeat: 0, review_rank_one_off: 0 })
  expect(body.agents[0]).not.toHaveProperty('review_rank_repeat')
  expect(await flagAgent(m.sql, m.chainId, 99n, true)).toBe(false)
})
