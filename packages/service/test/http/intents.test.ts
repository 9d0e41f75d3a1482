// The queue of intents over HTTP. What runners do with intents is in test/mcp/intents.test.ts.
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { naming, sessionOf } from './caller.ts'
import { transfer } from './chain.ts'
import { newAgent, startTestMarket, type TestMarket } from './market.ts'

const PATH = '/v1/intents'
const NOWHERE = 99_999_999
const DAY_MS = 86_400_000
const PAYLOAD = { ref_link: 'https://market.test/r/abc', max_amount: '1000000', idempotency_key: 'first' }

let m: TestMarket
let owner: LocalAccount
let agentId: bigint

beforeAll(async () => {
  m = await startTestMarket({ chainIds: [31_337, 31_338] })
  owner = m.market.accounts.reviewer
  agentId = await newAgent(m, owner)
})
afterAll(() => m.close())

const draft = (change: object = {}) => ({
  chain_id: m.chainId,
  agent_id: Number(agentId),
  type: 'buy_product',
  payload: PAYLOAD,
  ...change,
})
const queue = (change: object = {}, as = owner) => m.call('POST', PATH, { as, body: draft(change) })
const list = (query = '', as = owner, of = agentId) => m.call('GET', `${PATH}?agent_id=${of}${query}`, { as })
const withdraw = (id: string, as = owner) =>
  m.call('DELETE', `${PATH}/${id}`, { as, body: naming('DELETE', `${PATH}/${decodeURIComponent(id)}`) })
const refusal = (status: number, error: string) => ({ status, body: { error } })

/** Does the work with the service's clock moved forward. */
async function later<T>(ms: number, work: () => Promise<T>): Promise<T> {
  m.clock.aheadMs += ms
  try {
    return await work()
  } finally {
    m.clock.aheadMs -= ms
  }
}

describe('POST /v1/intents', () => {
  it('answers with the pending intent, its payload in the order in which it was sent', async () => {
    const payload = '{"max_amount":25,"idempotency_key":"é\\u0000","ref_link":"http://127.0.0.1/r/a-b"}'
    const sent = `{"chain_id":${m.chainId},"agent_id":${agentId},"type":"buy_product","payload":${payload}}`
    const { status, body, text } = await m.call('POST', PATH, { as: owner, body: sent })
    expect(status).toBe(201)
    expect(body).toEqual({
      intent_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      chain_id: m.chainId,
      agent_id: Number(agentId),
      type: 'buy_product',
      payload: JSON.parse(payload),
      created_at: expect.any(String),
      expires_at: expect.any(String),
      status: 'pending',
    })
    expect(text).toContain(`"payload":${payload}`)
    expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(DAY_MS)
  })

  it.each([true, false])('takes a payload that says whether to review: %j', async (review) => {
    const { status, body } = await queue({ payload: { ...PAYLOAD, review } })
    expect([status, body.payload]).toEqual([201, { ...PAYLOAD, review }])
  })

  it('is for those who sign, or have a session', async () => {
    expect(await m.call('POST', PATH, { body: draft() })).toMatchObject(refusal(401, 'unauthorized'))
    const token = await sessionOf(m.call, owner)
    expect((await m.call('POST', PATH, { token, body: draft() })).status).toBe(201)
  })

  it('is for the owner that the agent has on the chain', async () => {
    const { stranger } = m.market.accounts
    expect(await queue({}, stranger)).toMatchObject(refusal(403, 'caller does not own this agent'))
    expect(await queue({ agent_id: NOWHERE })).toMatchObject(refusal(404, 'agent not found on-chain'))
    // On the other chain there is no such agent.
    expect(await queue({ chain_id: 31_338 })).toMatchObject(refusal(404, 'agent not found on-chain'))
  })

  it.each([{ chain_id: 999_999_999 }, { chain_id: 0 }, { chain_id: null }])(
    'needs a chain that is served: %j',
    async (change) => {
      expect(await queue(change)).toMatchObject(refusal(400, 'chain_id not configured'))
    },
  )

  it.each<[object, string]>([
    [{ agent_id: -1 }, 'invalid request'],
    [{ agent_id: '1' }, 'invalid request'],
    [{ chain_id: '31337' }, 'invalid request'],
    [{ type: 'sell_product' }, 'invalid request'],
    [{ payload: [] }, 'invalid request'],
    [{ payload: null }, 'invalid request'],
    [{ expires_in: 1.5 }, 'invalid request'],
    [{ expires_in: 59 }, 'expires_in must be 60 to 2592000 seconds'],
    [{ expires_in: 2_592_001 }, 'expires_in must be 60 to 2592000 seconds'],
  ])('refuses %j', async (change, error) => {
    expect(await queue(change)).toMatchObject(refusal(400, error))
  })

  const LARGE = /^payload too large: must be <= 16384 bytes$/
  const LINK = /^payload\.ref_link: a ref link must .+; copy the link/
  const AMOUNT = /^payload\.max_amount must be base units/
  const KEY = /^payload\.idempotency_key must be a text of 1 to 200 characters$/
  it.each<[string, object, RegExp]>([
    ['without a link', { ref_link: undefined }, LINK],
    ['whose link has no token', { ref_link: 'https://market.test/abc' }, LINK],
    ['whose link is not http', { ref_link: 'ftp://market.test/r/abc' }, LINK],
    ['without an amount', { max_amount: undefined }, AMOUNT],
    ['of a negative amount', { max_amount: -1 }, AMOUNT],
    ['of half a base unit', { max_amount: 1.5 }, AMOUNT],
    ['of an amount that a double cannot hold', { max_amount: 2 ** 53 }, AMOUNT],
    ['of an amount with zeros in front', { max_amount: '007' }, AMOUNT],
    ['of an amount with an exponent', { max_amount: '1e6' }, AMOUNT],
    ['without a key', { idempotency_key: undefined }, KEY],
    ['with an empty key', { idempotency_key: '' }, KEY],
    ['with a key of 201 characters', { idempotency_key: 'x'.repeat(201) }, KEY],
    ['whose review is no boolean', { review: 'yes' }, /^payload\.review must be true or false$/],
    [
      'with something else',
      { note: 'hello' },
      /^payload has nothing but ref_link, max_amount, idempotency_key, review$/,
    ],
    ['of more than 16 KiB', { ref_link: `https://market.test/${'€'.repeat(6_000)}/r/abc` }, LARGE],
  ])('refuses a payload %s', async (_, change, error) => {
    const { status, body } = await queue({ payload: { ...PAYLOAD, ...change } })
    expect([status, body.error]).toEqual([400, expect.stringMatching(error)])
  })

  it('holds a thousand pending ones of an agent, and no more until one is closed', async () => {
    const agent = await newAgent(m, owner)
    await m.sql`
      INSERT INTO market.intents (intent_id, chain_id, agent_id, owner, type, payload, created_at, expires_at)
      SELECT md5(number::text), ${m.chainId}, ${agent}, decode(${owner.address.slice(2)}, 'hex'), 'buy_product', '{}', now(),
        now() + INTERVAL '1 hour'
      FROM generate_series(1, 999) AS number`
    const one = await queue({ agent_id: Number(agent) })
    expect(one.status).toBe(201)
    const full = refusal(409, `agent ${agent} has 1000 pending intents: withdraw some`)
    expect(await queue({ agent_id: Number(agent) })).toMatchObject(full)
    expect((await queue()).status).toBe(201)
    await withdraw(one.body.intent_id)
    expect((await queue({ agent_id: Number(agent) })).status).toBe(201)
    expect(await queue({ agent_id: Number(agent) })).toMatchObject(full)
    await later(3_600_000, async () => {
      expect((await queue({ agent_id: Number(agent) })).status).toBe(201)
    })
  })
})

describe('GET /v1/intents', () => {
  it('tells what the caller queued for the agent, newest first, a page at a time', async () => {
    const agent = await newAgent(m, owner)
    const ids: string[] = []
    for (const seconds of [60, 120, 180]) {
      const { body } = await later(ids.length, () => queue({ agent_id: Number(agent), expires_in: seconds }))
      ids.unshift(body.intent_id)
    }
    await withdraw(ids[2] ?? '')
    const seen = async (query: string) =>
      (await list(query, owner, agent)).body.intents.map(({ intent_id, status }: Record<string, string>) => [
        intent_id,
        status,
      ])
    expect(await seen('')).toEqual([
      [ids[0], 'pending'],
      [ids[1], 'pending'],
      [ids[2], 'withdrawn'],
    ])
    expect(await seen('&limit=1&offset=1')).toEqual([[ids[1], 'pending']])
    expect(await later(121_000, () => seen('&limit=2'))).toEqual([
      [ids[0], 'pending'],
      [ids[1], 'expired'],
    ])
    expect((await list('&chain_id=31338', owner, agent)).status).toBe(404)
  })

  it('shows them to nobody but the owner, who sees none of the owner before', async () => {
    const { stranger, treasury } = m.market.accounts
    const agent = await newAgent(m, owner)
    const { body } = await queue({ agent_id: Number(agent) })
    expect(await list('', stranger, agent)).toMatchObject(refusal(403, 'caller does not own this agent'))
    expect(await m.call('GET', `${PATH}?agent_id=${agent}`)).toMatchObject(refusal(401, 'unauthorized'))
    await transfer(m, owner, treasury.address, agent)
    expect(await list('', owner, agent)).toMatchObject(refusal(403, 'caller does not own this agent'))
    expect(await list('', treasury, agent)).toMatchObject({ status: 200, body: { intents: [] } })
    expect((await withdraw(body.intent_id)).status).toBe(204)
  })

  it('needs an agent', async () => {
    const ask = (query: string) => m.call('GET', `${PATH}${query}`, { as: owner })
    expect(await ask('')).toMatchObject(refusal(400, 'agent_id required'))
    expect(await ask('?agent_id=x')).toMatchObject(refusal(400, 'invalid agent_id'))
    expect(await ask(`?agent_id=${NOWHERE}`)).toMatchObject(refusal(404, 'agent not found on-chain'))
  })
})

describe('DELETE /v1/intents/{id}', () => {
  it('withdraws a pending one, once', async () => {
    const { intent_id: id } = (await queue()).body
    expect(await withdraw(id)).toMatchObject({ status: 204, text: '' })
    expect(await withdraw(id)).toMatchObject(refusal(409, 'intent is already withdrawn'))
  })

  it('does not withdraw one that has expired', async () => {
    const { intent_id: id } = (await queue({ expires_in: 60 })).body
    const answer = await later(61_000, () => withdraw(id))
    expect(answer).toMatchObject(refusal(409, 'intent is already expired'))
    expect((await withdraw(id)).status).toBe(204)
  })

  it('does not find what is unknown, or of somebody else', async () => {
    const { intent_id: id } = (await queue()).body
    expect(await withdraw(id, m.market.accounts.stranger)).toMatchObject(refusal(404, 'not found'))
    for (const unknown of ['0'.repeat(32), 'nonsense', '%00', id.toUpperCase()]) {
      expect(await withdraw(unknown)).toMatchObject(refusal(404, 'not found'))
    }
    expect((await withdraw(id)).status).toBe(204)
  })
})
