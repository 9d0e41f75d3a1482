import { Writable } from 'node:stream'
import { listProduct, openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  generic,
  productOf,
  publishReview,
  startTestMarket,
  type TestMarket,
} from '../../test/http/market.ts'
import { createLog } from '../log.ts'
import { routes } from '../routes.ts'
import { adminRoutes } from './http.ts'

const CHAINS = [31_337, 31_338]
const logged: Record<string, unknown>[] = []
let m: TestMarket
let admin: LocalAccount
let reviewer: LocalAccount
let token: string
let agentId: number
let product: Product

beforeAll(async () => {
  const destination = new Writable({
    write(line, _encoding, done) {
      logged.push(JSON.parse(String(line)))
      done()
    },
  })
  m = await startTestMarket({ chainIds: CHAINS, overrides: { log: createLog('info', destination) } })
  admin = m.market.accounts.admin
  reviewer = m.market.accounts.reviewer
  token = await sessionOf(admin)
  // The first one is 0, which some routes refuse.
  await registerIdentity(m.market, admin)
  agentId = Number(await registerIdentity(m.market, reviewer))
  product = { merchantId: await openMerchant(m.market, m.market.accounts.merchant), productId: productOf(7) }
  await listProduct(m.market, m.market.accounts.merchant, product)
  await m.indexed()
})
afterAll(() => m.close())

async function sessionOf(account: LocalAccount): Promise<string> {
  return (await m.call('POST', '/v1/auth/session', { as: account })).body.token
}

async function submit(proofData = '{"seen":"it"}'): Promise<number> {
  const { status, text, body } = await m.call('POST', '/v1/proof', {
    as: reviewer,
    body: `{"agent_id":${agentId},"merchant_id":3,"product_id":"${productOf(7)}","proof_data":${proofData}}`,
  })
  expect(status, text).toBe(201)
  return body.proof_id
}

const approve = (proofId: number | string, query = '') =>
  m.call('POST', `/admin/proofs/${proofId}/approve${query}`, { token })
const reject = (proofId: number, body: unknown) =>
  m.call('POST', `/admin/proofs/${proofId}/reject`, { token, body })
const statusOf = (proofId: number) =>
  m.call('GET', `/v1/proof/${proofId}?agent_id=${agentId}`, { as: reviewer })
const list = (query: string) => m.call('GET', `/admin/proofs${query}`, { token })

/** An address of the route: agent, review and whatever else have the same number. */
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, String(agentId))

describe('every route of an admin', () => {
  it.each(adminRoutes.map(({ method, path }) => [method, path]))(
    '%s %s is for the session of an admin alone',
    async (method, path) => {
      const url = pathOf(path)
      const body = method === 'GET' ? {} : { body: { note: 'n', items: ['i'] } }
      expect(await m.call(method, url, body)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
      expect(await m.call(method, url, { as: admin, ...body })).toMatchObject({ status: 401 })
      const stranger = await sessionOf(m.market.accounts.stranger)
      expect(await m.call(method, url, { token: stranger, ...body })).toMatchObject({
        status: 403,
        body: { error: 'not authorized' },
      })
    },
  )

  it('takes a chain where it is about one', async () => {
    for (const { method, path, takesChain } of adminRoutes) {
      if (!takesChain) continue
      const body = method === 'GET' ? {} : { body: { note: 'n' } }
      const answer = await m.call(method, `${pathOf(path)}?chain_id=5`, { token, ...body })
      expect(answer, path).toMatchObject({ status: 400, body: { error: 'chain_id not configured' } })
    }
  })
})

describe('a proof', () => {
  it('that is approved says so, with the moment, to its agent [PROOF-26]', async () => {
    const proofId = await submit()
    expect((await statusOf(proofId)).body).toEqual({ status: 'pending' })
    const { status, body } = await approve(proofId)
    expect(status).toBe(200)
    expect(body).toEqual({ proof_id: proofId, status: 'approved', reviewed_at: expect.any(String) })
    expect((await statusOf(proofId)).body).toEqual({ status: 'approved', reviewed_at: body.reviewed_at })
  })

  it('that is rejected says so, with the moment, to its agent [PROOF-27]', async () => {
    const proofId = await submit()
    const { status, body } = await reject(proofId, { note: 'not your screenshot' })
    expect(status).toBe(200)
    expect(body).toEqual({ proof_id: proofId, status: 'rejected', reviewed_at: expect.any(String) })
    expect((await statusOf(proofId)).body).toEqual({ status: 'rejected', reviewed_at: body.reviewed_at })
  })

  it('is decided once, also by many at the same moment [PROOF-30]', async () => {
    const proofId = await submit()
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, at) => (at % 2 ? approve(proofId) : reject(proofId, { note: 'no' }))),
    )
    const [first, ...more] = answers.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    expect(answers.filter(({ status }) => status === 409).map(({ body }) => body)).toEqual(
      Array(7).fill({ error: 'proof is already decided' }),
    )
    const { status, reviewed_at } = first?.body ?? {}
    expect((await approve(proofId)).status).toBe(409)
    expect((await reject(proofId, { note: 'no' })).status).toBe(409)
    expect((await statusOf(proofId)).body).toEqual({ status, reviewed_at })
  })

  it('that nobody knows, or of another chain, is not found', async () => {
    const proofId = await submit()
    expect(await approve(99_999_999)).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await approve(proofId, `?chain_id=${CHAINS[1]}`)).toMatchObject({ status: 404 })
    expect((await statusOf(proofId)).body).toEqual({ status: 'pending' })
    for (const id of ['-1', 'abc', '1.5', '9007199254740992']) {
      expect(await approve(id)).toMatchObject({ status: 400, body: { error: 'invalid proof id' } })
    }
  })

  it.each([
    ['nothing', undefined],
    ['no note', {}],
    ['an empty note', { note: '' }],
    ['a blank note', { note: ' \n\t ' }],
    ['a note that is no text', { note: 5 }],
    ['a note that the database cannot hold', { note: 'a\0b' }],
    ['a note of 2,001 characters', { note: '😀'.repeat(2_001) }],
    ['no JSON', '{'],
  ])('is not rejected with %s', async (_, body) => {
    const proofId = await submit()
    expect(await reject(proofId, body)).toMatchObject({ status: 400, body: { error: 'note required' } })
    expect((await statusOf(proofId)).body).toEqual({ status: 'pending' })
  })

  it('may be rejected with a note of 2,000 characters', async () => {
    expect(await reject(await submit(), { note: '😀'.repeat(2_000) })).toMatchObject({ status: 200 })
  })

  it('shows its note to admins, and to nobody else on any route [PROOF-28]', async () => {
    const note = 'looks forged: zebra-crossing-1138'
    const proofId = await submit()
    await reject(proofId, { note })
    const { body, text } = await list('?status=rejected&limit=20')
    const shown = body.proofs.find(({ proof_id }: { proof_id: number }) => proof_id === proofId)
    expect(shown).toMatchObject({ note, reviewed_by: admin.address, status: 'rejected' })
    expect(text).toContain(note)
    const reads = routes.filter(({ method, path }) => method === 'GET' && !path.startsWith('/admin/'))
    const answered: string[] = []
    for (const { path, auth } of reads) {
      const url = `${pathOf(path.replace('/v1/proof/{id}', `/v1/proof/${proofId}`))}?agent_id=${agentId}&chain_id=${CHAINS[0]}`
      const answer = await m.call('GET', url, auth === 'none' ? {} : { as: reviewer })
      expect(answer.text, url).not.toContain('zebra-crossing')
      if (answer.status === 200) answered.push(path)
    }
    expect(answered).toEqual(expect.arrayContaining(['/v1/proof/{id}', '/v1/agent/{id}/context']))
    expect(JSON.stringify(logged)).not.toContain('zebra-crossing')
  })
})

describe('the list of proofs', () => {
  it('shows those that wait, oldest first, with the data as it came', async () => {
    const data = '{"1":"one","__proto__":{"a":1},"zero":"\\u0000"}'
    const ids = [await submit(data), await submit()]
    let found: { proof_id: number }[] = []
    let text = ''
    for (let page = 1; ; page += 1) {
      const answer = await list(`?page=${page}&limit=20`)
      expect(answer.body).toMatchObject({ page, limit: 20 })
      if (answer.body.proofs.length === 0) break
      found = [...found, ...answer.body.proofs]
      text += answer.text
    }
    const known = found.map(({ proof_id }) => proof_id)
    expect(known).toEqual([...known].sort((a, b) => a - b))
    expect(known).toEqual(expect.arrayContaining(ids))
    expect(text).toContain(`"proof_data":${data}`)
    expect(found.find(({ proof_id }) => proof_id === ids[1])).toEqual({
      proof_id: ids[1],
      agent_id: agentId,
      merchant_id: 3,
      product_id: productOf(7),
      status: 'pending',
      submitted_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      reviewed_at: null,
      reviewed_by: null,
      note: null,
      proof_data: { seen: 'it' },
    })
  })

  it('shows those of one state, a bounded number at once', async () => {
    await approve(await submit())
    const approved = await list('?status=approved&limit=500')
    expect(approved.body.limit).toBe(20)
    expect(approved.body.proofs.length).toBeGreaterThan(0)
    for (const { status, note } of approved.body.proofs)
      expect({ status, note }).toEqual({ status: 'approved', note: null })
    expect((await list('?limit=-3&page=0')).body).toMatchObject({ page: 1, limit: 1 })
    expect((await list('')).body).toMatchObject({ page: 1, limit: 10 })
    expect((await list(`?chain_id=${CHAINS[1]}`)).body).toEqual({ page: 1, limit: 10, proofs: [] })
    expect((await list('?page=9007199254740991')).body).toMatchObject({ proofs: [] })
    expect(await list('?status=lost')).toMatchObject({ status: 400, body: { error: 'invalid status' } })
    expect(await list('?limit=x')).toMatchObject({ status: 400, body: { error: 'invalid limit' } })
  })

  it('fails as an internal error', async () => {
    await m.withoutTable('market.proofs', async () => {
      expect(await list('')).toMatchObject({ status: 500, body: { error: 'internal error' } })
      expect(await approve(1)).toMatchObject({ status: 500, body: { error: 'internal error' } })
    })
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
  logged.length = 0
  const proofId = await submit()
  await approve(proofId)
  await approve(proofId)
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
