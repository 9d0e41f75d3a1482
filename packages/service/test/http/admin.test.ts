import { listProduct, openMerchant, type Product } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AdminDesk, CHAINS, pathOf, startAdminDesk, submitProof } from './admin.ts'
import { sessionOf } from './caller.ts'
import { EXPECTED_ROUTES, splitName } from './expected-routes.ts'
import { generic, productOf, publishReview, type TestMarket } from './market.ts'

let desk: AdminDesk
let m: TestMarket
let admin: LocalAccount
let reviewer: LocalAccount
let token: string
let agentId: number
let product: Product

beforeAll(async () => {
  desk = await startAdminDesk()
  ;({ m, admin, reviewer, token, agentId } = desk)
  const { merchant } = m.market.accounts
  product = { merchantId: await openMerchant(m.market, merchant), productId: productOf(7) }
  await listProduct(m.market, merchant, product)
  await m.indexed()
})
afterAll(() => m.close())

describe('every route of an admin', () => {
  const adminRoutes = EXPECTED_ROUTES.filter(([, { auth }]) => auth === 'admin')

  it.each(adminRoutes.map(([name]) => splitName(name)))(
    '%s %s is for the session of an admin alone',
    async (method, path) => {
      const url = pathOf(path, agentId)
      const body = method === 'GET' ? {} : { body: { note: 'n', items: ['i'] } }
      expect(await m.call(method, url, body)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
      expect(await m.call(method, url, { as: admin, ...body })).toMatchObject({ status: 401 })
      const stranger = await sessionOf(m.call, m.market.accounts.stranger)
      expect(await m.call(method, url, { token: stranger, ...body })).toMatchObject({
        status: 403,
        body: { error: 'not authorized' },
      })
    },
  )

  it('takes a chain where it is about one', async () => {
    for (const [name, { badBody }] of adminRoutes.filter(([, { chain }]) => chain)) {
      const [method, path] = splitName(name)
      const body = badBody === undefined ? {} : { body: { note: 'n' } }
      const answer = await m.call(method, `${pathOf(path, agentId)}?chain_id=5`, { token, ...body })
      expect(answer, path).toMatchObject({ status: 400, body: { error: 'chain_id not configured' } })
    }
  })
})

describe('the flag of an agent', () => {
  const flag = (action: string, id: number | string = agentId) =>
    m.call('POST', `/admin/agents/${id}/${action}`, { token })
  const isFlagged = async () =>
    (await m.call('GET', `/v1/review-rank/${agentId}`, { as: reviewer })).body.flagged

  it('is set and taken back, however often', async () => {
    for (const [action, flagged] of [
      ['flag', true],
      ['flag', true],
      ['unflag', false],
      ['unflag', false],
    ] as const) {
      expect(await flag(action)).toMatchObject({ status: 200, body: { agent_id: agentId, flagged } })
      expect(await isFlagged()).toBe(flagged)
    }
  })

  it('is refused for an agent that nobody knows', async () => {
    expect(await flag('flag', 99_999_999)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await flag('unflag', 99_999_999)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await flag('flag', -1)).toMatchObject({ status: 400, body: { error: 'invalid agent id' } })
  })
})

describe('a dispute', () => {
  const resolve = (id: number | string, body: unknown = { note: 'the author is right' }) =>
    m.call('POST', `/admin/disputes/${id}/resolve`, { token, body })
  const disputes = async () => (await m.call('GET', '/admin/disputes', { token })).body.disputes
  const outcomeOf = async (id: number) =>
    (await m.call('GET', `/v1/review-internal/${id}`)).body.comparison_outcome

  it('waits in the list until an admin ends it, once', async () => {
    const content = generic(4, 'fine')
    const { internalId, reviewId } = await publishReview(m, reviewer, {
      agentId: BigInt(agentId),
      product,
      content,
      proofId: 1n,
    })
    expect(await disputes()).toEqual([])
    expect(await resolve(internalId)).toMatchObject({
      status: 409,
      body: { error: 'review is not disputed' },
    })
    await m.sql`UPDATE market.reviews SET comparison_outcome = 'disputed' WHERE internal_id = ${internalId}`
    expect(await disputes()).toEqual([
      {
        internal_id: internalId,
        on_chain_id: Number(reviewId),
        agent_id: agentId,
        merchant_id: Number(product.merchantId),
        product_id: product.productId,
        satisfaction_score: 0.75,
        published_at: expect.any(String),
        reason: null,
        disputed_at: null,
        content_json: JSON.parse(content),
      },
    ])
    expect(await resolve(internalId, { note: ' ' })).toMatchObject({
      status: 400,
      body: { error: 'note required' },
    })
    expect(await outcomeOf(internalId)).toBe('disputed')
    const answers = await Promise.all(Array.from({ length: 6 }, () => resolve(internalId)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409])
    expect(answers.find(({ status }) => status === 200)?.body).toEqual({
      internal_id: internalId,
      comparison_outcome: 'resolved',
    })
    expect(await outcomeOf(internalId)).toBe('resolved')
    expect(await disputes()).toEqual([])
    const decisions = await m.sql`SELECT internal_id, decided_by, note FROM market.dispute_decisions`
    expect([...decisions]).toEqual([
      {
        internal_id: BigInt(internalId),
        decided_by: Buffer.from(admin.address.slice(2), 'hex'),
        note: 'the author is right',
      },
    ])
  })

  it('that nobody knows is not found', async () => {
    expect(await resolve(99_999_999)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await resolve('x')).toMatchObject({ status: 400, body: { error: 'invalid review id' } })
  })
})

describe('a checklist', () => {
  const put = (category: string, body: unknown) =>
    m.call('PUT', `/admin/checklists/${encodeURIComponent(category)}`, { token, body })
  const remove = (category: string) =>
    m.call('DELETE', `/admin/checklists/${encodeURIComponent(category)}`, { token })
  const all = async () => (await m.call('GET', '/admin/checklists', { token })).body.checklists

  it('is written, replaced and removed', async () => {
    const category = 'Ünusual / category'
    const first = await put(category, { items: ['latency', 'a "quoted", {braced} one'] })
    expect(first).toMatchObject({ status: 200 })
    expect(first.body).toEqual({
      category,
      items: ['latency', 'a "quoted", {braced} one'],
      authored_at: expect.any(String),
      authored_by: admin.address,
    })
    expect(await all()).toEqual([first.body])
    const second = await put(category, { items: ['price'] })
    expect(await all()).toEqual([second.body])
    await put('api', { items: ['uptime'] })
    expect((await all()).map((checklist: { category: string }) => checklist.category)).toEqual(
      [category, 'api'].sort(),
    )
    for (const each of [category, category, 'api'])
      expect(await remove(each)).toMatchObject({ status: 204, text: '' })
    expect(await all()).toEqual([])
  })

  it('has 1 to 20 items of 1 to 200 characters', async () => {
    const bad = [[], Array(21).fill('x'), [''], ['  '], ['é'.repeat(201)], [5], 'x', undefined]
    for (const items of bad) {
      expect(await put('api', { items })).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    }
    expect(await put('x'.repeat(65), { items: ['x'] })).toMatchObject({
      status: 400,
      body: { error: 'invalid category' },
    })
    expect(await put('api', { items: Array(20).fill('é'.repeat(200)) })).toMatchObject({ status: 200 })
    await remove('api')
  })
})

it('keeps a record of who did what', async () => {
  const { logged } = desk
  logged.length = 0
  const proofId = await submitProof(desk, productOf(7))
  const approve = () => m.call('POST', `/admin/proofs/${proofId}/approve`, { token })
  await approve()
  expect((await approve()).status).toBe(409)
  await m.call('POST', `/admin/agents/${agentId}/flag`, { token })
  await m.call('POST', `/admin/agents/${agentId}/unflag`, { token })
  await m.call('PUT', '/admin/checklists/api', { token, body: { items: ['uptime'] } })
  await m.call('DELETE', '/admin/checklists/api', { token })
  const acts = logged.filter(({ msg }) => msg === 'an admin acted')
  expect(acts.map(({ admin: by, action }) => [by, action])).toEqual(
    ['proof approved', 'agent flagged', 'agent unflagged', 'checklist authored', 'checklist removed'].map(
      (action) => [admin.address, action],
    ),
  )
  expect(acts[0]).toMatchObject({ proofId: String(proofId), chainId: String(CHAINS[0]) })
  expect(JSON.stringify(logged)).not.toContain(token)
})
