import { registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sessionOf } from './caller.ts'
import { productOf, startTestMarket, type TestMarket } from './market.ts'

const PRODUCT = productOf(7)
const MOST = 1_048_576
const NOWHERE = 99_999_999

let m: TestMarket
let owner: LocalAccount
let stranger: LocalAccount
let agentId: number

beforeAll(async () => {
  m = await startTestMarket()
  ;({ reviewer: owner, stranger } = m.market.accounts)
  // The first identity has the id 0.
  await registerIdentity(m.market, owner)
  agentId = Number(await registerIdentity(m.market, owner))
  await m.indexed()
})
afterAll(() => m.close())

const good = () => ({ agent_id: agentId, merchant_id: 3, product_id: PRODUCT, proof_data: { receipt: 1 } })
const post = (body: unknown, as = owner) => m.call('POST', '/v1/proof', { as, body })
/** A valid body with some keys replaced; undefined: left out. */
const submit = (changed: Record<string, unknown> = {}, as = owner) => post({ ...good(), ...changed }, as)
const ownerCall = (id: number) =>
  encodeFunctionData({ abi: identityRegistryAbi, functionName: 'ownerOf', args: [BigInt(id)] })

async function expectRefusal(answer: ReturnType<typeof post>, status: number, error: string) {
  const { status: told, body } = await answer
  const detail = error === 'invalid request' ? { detail: expect.any(String) } : {}
  expect([told, body]).toEqual([status, { error, ...detail }])
}
const stored = async () => (await m.sql`SELECT FROM market.proofs`).length

describe('a proof', () => {
  it('is answered with 201, its id and that it is pending, and nothing else [PROOF-20, PROOF-21, PROOF-22, PROOF-23]', async () => {
    const [one, two] = [await submit(), await submit()]
    for (const { status, body } of [one, two]) {
      expect(status).toBe(201)
      expect(body).toEqual({ proof_id: expect.any(Number), status: 'pending' })
      expect(Number.isInteger(body.proof_id)).toBe(true)
    }
    expect(one.body.proof_id).not.toBe(two.body.proof_id)
  })

  it('needs a signature [PROOF-01]', async () => {
    const before = await stored()
    const answer = await m.call('POST', '/v1/proof', { body: good() })
    expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(await stored()).toBe(before)
  })

  it('is for the owner of the agent [PROOF-02]', async () => {
    const before = await stored()
    await expectRefusal(submit({}, stranger), 403, 'caller does not own this agent')
    expect(await stored()).toBe(before)
  })

  it('may be of agent 0 and of merchant 0 [PROOF-06, PROOF-50]', async () => {
    expect((await submit({ agent_id: 0 })).status).toBe(201)
    expect((await submit({ merchant_id: 0 })).status).toBe(201)
    await expectRefusal(submit({ agent_id: 0 }, stranger), 403, 'caller does not own this agent')
  })

  it.each<[string, unknown]>([
    ['no agent [PROOF-04]', { agent_id: undefined }],
    ['an agent as text [PROOF-04]', { agent_id: '1' }],
    ['an agent with a fraction [PROOF-04]', { agent_id: 1.5 }],
    ['a negative agent [PROOF-05]', { agent_id: -1 }],
    ['a negative merchant [PROOF-07]', { merchant_id: -1 }],
    ['no merchant [PROOF-50]', { merchant_id: undefined }],
    ['a merchant as text [PROOF-50]', { merchant_id: '3' }],
    ['no product [PROOF-08]', { product_id: undefined }],
    ['a product that is no text [PROOF-08]', { product_id: 7 }],
    ['data that are text [PROOF-12]', { proof_data: 'x' }],
    ['data that are a list [PROOF-12]', { proof_data: [1] }],
    ['data that are a number [PROOF-12]', { proof_data: 5 }],
    ['data that are true [PROOF-12]', { proof_data: true }],
  ])('is refused with %s', async (_, changed) => {
    await expectRefusal(submit(changed as Record<string, unknown>), 400, 'invalid request')
  })

  it('is refused when the body cannot be read [PROOF-16]', async () => {
    for (const body of ['{', 'proof', '[]', 'null', undefined])
      await expectRefusal(post(body), 400, 'invalid request')
  })

  it.each([
    ['0x1234', 2],
    ['1234', 2],
    ['0x', 0],
    ['', 0],
    ['what', 0],
    [`${PRODUCT.slice(0, -1)}`, 31],
    [PRODUCT.slice(0, -2), 31],
    [`${PRODUCT}00`, 33],
  ])('is refused with the product %j: that is %i bytes [PROOF-08, PROOF-09]', async (productId, bytes) => {
    const error = `invalid product_id: must be 32-byte hex (got ${bytes} bytes): invalid input`
    await expectRefusal(submit({ product_id: productId }), 400, error)
  })

  it('is refused with a product of the right length that is no hex [PROOF-08]', async () => {
    const { status, body } = await submit({ product_id: `0x${'zz'.repeat(32)}` })
    expect(status).toBe(400)
    expect(body.error).toMatch(/^invalid product_id: must be 32-byte hex \(got \d+ bytes\): invalid input$/)
  })

  it('takes a product with and without 0x for the same [PROOF-51]', async () => {
    for (const product_id of [PRODUCT, PRODUCT.slice(2)]) {
      const { status, body } = await submit({ product_id })
      expect(status).toBe(201)
      const [row] = await m.sql`
        SELECT '0x' || encode(product_id, 'hex') AS hex FROM market.proofs WHERE proof_id = ${body.proof_id}`
      expect(row?.hex).toBe(PRODUCT)
    }
  })
})

describe('the data of a proof', () => {
  it('are required [PROOF-10]', async () => {
    await expectRefusal(submit({ proof_data: undefined }), 400, 'proof_data is required: invalid input')
  })

  it('are not empty [PROOF-11]', async () => {
    await expectRefusal(submit({ proof_data: {} }), 400, 'proof_data is required: invalid input')
  })

  it('may be any object else [PROOF-13]', async () => {
    const objects: object[] = [
      { '': null },
      { a: {} },
      { list: [1, 'two', [3.5, { four: [] }]], text: 'ümläut 漢字 🦊', no: false },
      { agent_id: -1, proof_data: {}, constructor: 'x', __proto: 1 },
      Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`key ${at}`, at])),
    ]
    for (const proof_data of objects) {
      const { status, body } = await submit({ proof_data })
      expect(status).toBe(201)
      const [row] = await m.sql`SELECT proof_data FROM market.proofs WHERE proof_id = ${body.proof_id}`
      expect(JSON.parse(row?.proof_data)).toEqual(proof_data)
    }
  })

  it('may have 1,048,576 bytes of JSON and not one more, however many characters these are [PROOF-14, PROOF-15]', async () => {
    // A session, because signing megabytes is slow.
    const token = await sessionOf(m.call, owner)
    const submitted = (a: string) =>
      m.call('POST', '/v1/proof', { token, body: { ...good(), proof_data: { a } } })
    const tooLarge = 'proof_data too large: must be <= 1048576 bytes: invalid input'
    const room = MOST - Buffer.byteLength('{"a":""}')
    const foxes = '🦊'.repeat(room / 4)
    for (const text of ['x'.repeat(room), foxes]) {
      expect((await submitted(text)).status).toBe(201)
      await expectRefusal(submitted(`${text}x`), 400, tooLarge)
    }
  })
})

describe('data that few would send', () => {
  const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`
  /** `data` is JSON text. */
  const submitText = (data: string) =>
    post(`{"agent_id":${agentId},"merchant_id":3,"product_id":"${PRODUCT}","proof_data":${data}}`)
  const storedOf = async ({ body }: Awaited<ReturnType<typeof post>>) => {
    const [row] = await m.sql`SELECT proof_data FROM market.proofs WHERE proof_id = ${body.proof_id}`
    return row?.proof_data
  }

  it('may have a thousand levels, and not more', async () => {
    const deepest = await submitText(nested(1_000))
    expect(deepest.status).toBe(201)
    expect(await storedOf(deepest)).toBe(nested(1_000))
    for (const levels of [1_001, 4_000]) {
      const error = 'proof_data too deep: must be <= 1000 levels: invalid input'
      await expectRefusal(submitText(nested(levels)), 400, error)
    }
    // So many are counted before anything is parsed.
    for (const levels of [20_000, 300_000]) {
      await expectRefusal(submitText(nested(levels)), 400, 'invalid request')
    }
  })

  it('keep keys and characters that objects and Postgres would rather not', async () => {
    const data = '{"__proto__":{"constructor":1},"":[],"toString":null,"zero":"\\u0000","half":"\\ud800"}'
    const answer = await submitText(data)
    expect(answer.status).toBe(201)
    expect(await storedOf(answer)).toBe(data)
  })
})

describe('the agent of a proof', () => {
  it('that is not on the chain is not found, and is asked for once [PROOF-17, PROOF-18]', async () => {
    await expectRefusal(submit({ agent_id: NOWHERE }), 404, 'agent not found on-chain')
    expect(m.nodes.answered.filter((body) => body.includes(ownerCall(NOWHERE)))).toHaveLength(1)
  })

  it('is registered with the service if it was not [PROOF-24]', async () => {
    const agent_id = Number(await registerIdentity(m.market, owner))
    await m.indexed()
    const read = () => m.call('GET', `/v1/agent/${agent_id}`)
    // As if the indexer had not seen the agent.
    await m.sql`DELETE FROM market.agents WHERE agent_id = ${agent_id}`
    expect((await read()).status).toBe(404)
    expect((await submit({ agent_id })).status).toBe(201)
    expect(await read()).toMatchObject({ status: 200, body: { agent_id, owner_address: owner.address } })
  })

  it('is registered also when the records have not seen its block yet [PROOF-24]', async () => {
    const agent_id = Number(await registerIdentity(m.market, owner))
    expect((await submit({ agent_id })).status).toBe(201)
    expect((await m.call('GET', `/v1/agent/${agent_id}`)).status).toBe(200)
  })

  it('stays as it registered itself', async () => {
    const agent_id = Number(await registerIdentity(m.market, owner, 'https://agent.test/card.json'))
    expect((await m.call('POST', '/v1/agent/register', { as: owner, body: { agent_id } })).status).toBe(201)
    const { body } = await m.call('GET', `/v1/agent/${agent_id}`)
    expect((await submit({ agent_id })).status).toBe(201)
    expect((await m.call('GET', `/v1/agent/${agent_id}`)).body).toEqual(body)
  })
})

it('a proof fails as an internal error when the chain or the records cannot be asked [PROOF-19]', async () => {
  const before = await stored()
  m.nodes.only = ownerCall(agentId)
  try {
    await expectRefusal(submit(), 500, 'internal error')
  } finally {
    m.nodes.only = undefined
  }
  await m.withoutTable('market.proofs', () => expectRefusal(submit(), 500, 'internal error'))
  expect(await stored()).toBe(before)
  expect((await submit()).status).toBe(201)
})
