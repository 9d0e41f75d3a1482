import { registerIdentity } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { must, sessionOf } from './caller.ts'
import { productOf, startTestMarket, type TestMarket } from './market.ts'

const OTHER_CHAIN = 31_338
const NOTE = 'The receipt names somebody else: heliotrope-4711.'
const RFC3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/

let m: TestMarket
let owner: LocalAccount
let stranger: LocalAccount
/** Not 0: another agent of the same owner has that id. */
let agentId: number
/** The token of an admin's session. */
let token: string
let pending: number

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, OTHER_CHAIN] })
  ;({ reviewer: owner, stranger } = m.market.accounts)
  await registerIdentity(m.market, owner)
  agentId = Number(await registerIdentity(m.market, owner))
  await m.indexed()
  token = await sessionOf(m.call, m.market.accounts.admin)
  pending = await submit()
})
afterAll(() => m.close())

async function submit(agent_id = agentId): Promise<number> {
  const body = { agent_id, merchant_id: 3, product_id: productOf(7), proof_data: { receipt: 1 } }
  return (await must(m.call('POST', '/v1/proof', { as: owner, body }))).proof_id
}

const read = (proofId: number | string, query = `?agent_id=${agentId}`, as = owner) =>
  m.call('GET', `/v1/proof/${proofId}${query}`, { as })
const approve = (proofId: number) => m.call('POST', `/admin/proofs/${proofId}/approve`, { token })
const reject = (proofId: number, note = NOTE) =>
  m.call('POST', `/admin/proofs/${proofId}/reject`, { token, body: { note } })

async function expectRefusal(answer: ReturnType<typeof read>, status: number, error: string) {
  const { status: told, body } = await answer
  expect([told, body]).toEqual([status, { error }])
}

describe('what became of a proof', () => {
  it('is told to who signs [PROOF-31]', async () => {
    const path = `/v1/proof/${pending}?agent_id=${agentId}`
    expect(await m.call('GET', path)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect((await m.call('GET', path, { as: owner })).status).toBe(200)
  })

  it('is told to whoever knows its agent [PROOF-32]', async () => {
    const { status, body } = await read(pending, undefined, stranger)
    expect([status, body]).toEqual([200, { status: 'pending' }])
  })

  it('is its status alone while it is pending, without a moment [PROOF-25, PROOF-43, PROOF-44]', async () => {
    const { status, text } = await read(pending)
    expect([status, text]).toEqual([200, '{"status":"pending"}'])
  })

  it('is told of agent 0 too [PROOF-39]', async () => {
    const proofId = await submit(0)
    const { status, body } = await read(proofId, '?agent_id=0')
    expect([status, body]).toEqual([200, { status: 'pending' }])
  })

  it.each([
    ['a negative id [PROOF-33]', '-1'],
    ['a word [PROOF-34]', 'abc'],
    ['a fraction [PROOF-34]', '1.5'],
    ['a number that a double cannot hold [PROOF-34]', '9007199254740992'],
  ])('is not told of %s', async (_, proofId) => {
    await expectRefusal(read(proofId, '?agent_id=1'), 400, 'invalid proof id')
  })

  it('is not found for the id 0, which is no wrong one [PROOF-35]', async () => {
    await expectRefusal(read(0), 404, 'not found')
  })

  it.each([
    ['no agent [PROOF-36]', ''],
    ['an agent that is a word [PROOF-37]', '?agent_id=abc'],
    ['an agent with a fraction [PROOF-37]', '?agent_id=1.0'],
    ['an empty agent [PROOF-37]', '?agent_id='],
    ['a negative agent [PROOF-38]', '?agent_id=-1'],
  ])('is not told to who names %s', async (_, query) => {
    await expectRefusal(read(pending, query), 400, 'agent_id required')
  })

  it('is not found under another agent, as if there were no such proof [PROOF-40, PROOF-41]', async () => {
    await expectRefusal(read(pending, '?agent_id=0'), 404, 'not found')
    await expectRefusal(read(pending, `?agent_id=${agentId + 1}`), 404, 'not found')
    await expectRefusal(read(99_999_999), 404, 'not found')
  })

  it('is asked on the chain that the proof is of [PROOF-45]', async () => {
    const on = (chainId: number) => read(pending, `?agent_id=${agentId}&chain_id=${chainId}`)
    await expectRefusal(on(999_999_999), 400, 'chain_id not configured')
    await expectRefusal(on(OTHER_CHAIN), 404, 'not found')
    expect((await on(m.chainId)).status).toBe(200)
  })

  it('fails as an internal error [PROOF-42]', async () => {
    await m.withoutTable('market.proofs', () => expectRefusal(read(pending), 500, 'internal error'))
  })
})

describe('the decision of an admin', () => {
  it.each([
    ['approves it [PROOF-26]', 'approved', approve],
    ['rejects it [PROOF-27]', 'rejected', reject],
  ] as const)(
    'is told with its moment, and no more [PROOF-25, PROOF-43], when it %s',
    async (_, outcome, decide) => {
      const proofId = await submit()
      const from = new Date().toISOString()
      expect((await decide(proofId)).status).toBe(200)
      const to = new Date().toISOString()
      const { status, body } = await read(proofId)
      expect(status).toBe(200)
      expect(body).toEqual({ status: outcome, reviewed_at: expect.stringMatching(RFC3339) })
      const at = Date.parse(body.reviewed_at)
      expect(at).toBeGreaterThanOrEqual(Math.floor(Date.parse(from) / 1_000) * 1_000)
      expect(at).toBeLessThanOrEqual(Date.parse(to))
    },
  )

  it('is the only one [PROOF-30]', async () => {
    for (const decide of [approve, reject]) {
      const proofId = await submit()
      expect((await decide(proofId)).status).toBe(200)
      const { body } = await read(proofId)
      for (const again of [approve, reject]) expect((await again(proofId)).status).toBe(409)
      expect((await read(proofId)).body).toEqual(body)
    }
  })

  it('comes without its note, wherever the agent looks [PROOF-28]', async () => {
    const proofId = await submit()
    const decision = await reject(proofId)
    expect(decision.status).toBe(200)
    const again = await reject(proofId)
    const answers = [
      decision,
      again,
      await read(proofId),
      await m.call('GET', `/v1/agent/${agentId}`),
      await m.call('GET', `/v1/agent?owner=${owner.address}`),
      await m.call('GET', `/v1/agent/${agentId}/context`, { as: owner }),
      await m.call('GET', `/v1/agent/${agentId}/reviewable`, { as: owner }),
    ]
    for (const { text } of answers) expect(text).not.toContain('heliotrope')
    expect(answers.map(({ status }) => status)).toEqual([200, 409, 200, 200, 200, 200, 200])
    const { text: dashboard } = await m.call('GET', '/admin/proofs?status=rejected&limit=20', { token })
    expect(dashboard).toContain('heliotrope')
    expect(await m.call('GET', '/admin/proofs?status=rejected', { as: owner })).not.toMatchObject({
      status: 200,
    })
  })
})
