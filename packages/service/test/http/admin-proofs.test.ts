import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import { type AdminDesk, CHAINS, pathOf, startAdminDesk, submitProof } from './admin.ts'
import { productOf, type TestMarket } from './market.ts'

let desk: AdminDesk
let m: TestMarket
let admin: LocalAccount
let reviewer: LocalAccount
let token: string
let agentId: number

beforeAll(async () => {
  desk = await startAdminDesk()
  ;({ m, admin, reviewer, token, agentId } = desk)
})
afterAll(() => m.close())

const submit = (proofData?: string) => submitProof(desk, productOf(7), proofData)
const approve = (proofId: number | string, query = '') =>
  m.call('POST', `/admin/proofs/${proofId}/approve${query}`, { token })
const reject = (proofId: number, body: unknown) =>
  m.call('POST', `/admin/proofs/${proofId}/reject`, { token, body })
const statusOf = (proofId: number) =>
  m.call('GET', `/v1/proof/${proofId}?agent_id=${agentId}`, { as: reviewer })
const list = (query: string) => m.call('GET', `/admin/proofs${query}`, { token })

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
      const url = `${pathOf(path.replace('/v1/proof/{id}', `/v1/proof/${proofId}`), agentId)}?agent_id=${agentId}&chain_id=${CHAINS[0]}`
      const answer = await m.call('GET', url, auth === 'none' ? {} : { as: reviewer })
      expect(answer.text, url).not.toContain('zebra-crossing')
      if (answer.status === 200) answered.push(path)
    }
    expect(answered).toEqual(expect.arrayContaining(['/v1/proof/{id}', '/v1/agent/{id}/context']))
    expect(JSON.stringify(desk.logged)).not.toContain('zebra-crossing')
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
      by_owner: true,
      by_machine: false,
      machine_note: null,
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
