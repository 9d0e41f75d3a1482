// What admins read: how the service is doing, which agents are flagged, and disputes with the evidence of both sides.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must, sessionOf } from './caller.ts'
import type { TestMarket } from './market.ts'
import {
  buyAndTell,
  FULL_PRICE,
  newcomer,
  newProduct,
  type Person,
  quiet,
  startTown,
  type Town,
  write,
} from './town.ts'

let town: Town
let m: TestMarket
let token: string

beforeAll(async () => {
  town = await startTown()
  ;({ m } = town)
  token = await sessionOf(m.call, m.market.accounts.admin)
})
afterAll(() => m.close())

const read = (path: string) => m.call('GET', path, { token })
/** On a busy machine it may take longer than it may take. */
const health = () =>
  until(async () => {
    const answer = await read('/admin/health')
    return answer.status === 200 ? answer : undefined
  }, 'the health of the service')

describe('the health of the service', () => {
  it('shows workers and chains as /readyz does, and what waits', async () => {
    await m.indexed()
    const { body } = await health()
    const ready = (await m.call('GET', '/readyz')).body
    expect(body.workers.map(({ name }: { name: string }) => name)).toEqual(
      ready.workers.map(({ name }: { name: string }) => name),
    )
    expect(body.chains).toEqual([
      {
        chain_id: m.chainId,
        head: expect.any(Number),
        indexed: expect.any(Number),
        lag_seconds: expect.any(Number),
        detail: expect.stringMatching(/^\d+ blocks, \d+ s behind/),
      },
    ])
    expect(body.outbox).toEqual({ waiting: expect.any(Number), oldest_seconds: null })
    expect(body.embeddings_waiting).toBe(0)
  })

  it('shows the balances of our keys, warns of a low one, and does without the chain', async () => {
    const { oracle, publisher } = m.market.accounts
    const balance = await m.market.client.getBalance({ address: publisher.address })
    const keys = async () => (await health()).body.keys
    const of = (role: string, address: string) => ({ role, chain_id: m.chainId, address })
    expect(await keys()).toEqual([
      { ...of('oracle', oracle.address), balance_wei: expect.stringMatching(/^\d+$/), is_low: false },
      { ...of('publisher', publisher.address), balance_wei: String(balance), is_low: false },
    ])
    try {
      await m.market.client.setBalance({ address: publisher.address, value: 5n })
      expect((await keys())[1]).toMatchObject({ balance_wei: '5', is_low: true })
      m.nodes.only = 'eth_getBalance'
      expect((await keys())[1]).toMatchObject({ balance_wei: null, is_low: false })
    } finally {
      m.nodes.only = undefined
      await m.market.client.setBalance({ address: publisher.address, value: balance })
    }
  })

  it('shows no key', async () => {
    const { text } = await health()
    for (const key of [m.service.context.config.oracle, m.service.context.config.publisher]) {
      expect(text).not.toContain(key?.privateKey?.reveal().slice(2))
    }
  })
})

describe('the list of agents', () => {
  it('shows only flagged ones when asked to, with when they were flagged', async () => {
    const [one, two] = [await newcomer(m), await newcomer(m)]
    await m.indexed()
    const flagged = async (query = '') => (await read(`/admin/agents?flagged=true${query}`)).body
    expect((await flagged()).agents).toEqual([])
    const flag = (person: Person, action = 'flag') =>
      must(m.call('POST', `/admin/agents/${person.agentId}/${action}`, { token }))
    await flag(one)
    await flag(two)
    const { agents, ...page } = await flagged()
    expect(page).toEqual({ page: 1, limit: 20, has_more: false })
    expect(agents).toEqual(
      [one, two].map(({ agentId, owner }) =>
        expect.objectContaining({
          agent_id: Number(agentId),
          owner_address: owner.address,
          flagged: true,
          flagged_at: expect.any(String),
        }),
      ),
    )
    await flag(one)
    expect((await flagged()).agents[0].flagged_at).toBe(agents[0].flagged_at)
    expect(await flagged('&limit=1')).toMatchObject({ agents: [agents[0]], has_more: true })
    await flag(one, 'unflag')
    expect((await flagged()).agents).toEqual([agents[1]])
    const all = (await read('/admin/agents?limit=100')).body.agents
    const found = all.find(({ agent_id }: { agent_id: number }) => agent_id === Number(one.agentId))
    expect(found).toMatchObject({ flagged: false })
    expect(found).not.toHaveProperty('flagged_at')
  })
})

describe('a dispute', () => {
  it('is shown with the review, the findings on it and what buyers said', async () => {
    const review = await write(m, await newcomer(m), await newProduct(town), 3)
    const path = `/admin/disputes/${review.internalId}`
    const people = [await newcomer(m), await newcomer(m), await newcomer(m)]
    const told = await buyAndTell(
      m,
      review,
      people.map((person) => [person, 1] as const),
    )
    await quiet(m)
    expect(await read(path)).toMatchObject({ status: 404, body: { error: 'not found' } })
    const ask = { as: review.author.owner, body: { reason: 'They used it in another way.' } }
    await must(m.call('POST', `/v1/review/${review.reviewId}/dispute`, ask))
    const { status, body } = await read(path)
    expect(status).toBe(200)
    const [listed] = (await read('/admin/disputes')).body.disputes
    expect(body).toMatchObject(listed)
    expect(body.review).toEqual((await m.call('GET', `/v1/review/${review.reviewId}`)).body)
    expect(body.findings).toEqual((await m.call('GET', `/v1/review/${review.reviewId}/comparison`)).body)
    expect(body.findings.findings[0].outcome).toBe('contradicted')
    expect(body.buyer_reviews).toEqual(
      told.reverse().map(({ author: { owner, agentId }, deposit, internalId }) => ({
        escrow_id: Number(deposit.escrowId),
        price_usdc: Number(FULL_PRICE),
        owner: owner.address,
        review: expect.objectContaining({
          internal_id: internalId,
          agent_id: Number(agentId),
          satisfaction_score: expect.any(Number),
        }),
      })),
    )
    await must(m.call('POST', `${path}/resolve`, { token, body: { note: 'They are right.' } }))
    expect((await read(path)).body.review.comparison_outcome).toBe('resolved')
    expect(await read('/admin/disputes/999999')).toMatchObject({ status: 404 })
  })
})
