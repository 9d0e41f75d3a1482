import { openMerchant, registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi, merchantRegistryAbi } from '@referrer/protocol/abi'
import { encodeFunctionData, type LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { sessionOf } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'
import { act, openRecorded, register, unauthorized } from './merchants.ts'

let m: TestMarket
let merchant: LocalAccount
let stranger: LocalAccount

beforeAll(async () => {
  m = await startTestMarket()
  ;({ merchant, stranger } = m.market.accounts)
})
afterAll(() => m.close())

const isActiveOf = (merchantId: bigint) =>
  encodeFunctionData({ abi: merchantRegistryAbi, functionName: 'isActive', args: [merchantId] })
const ownerOf = (merchantId: bigint) =>
  encodeFunctionData({ abi: identityRegistryAbi, functionName: 'ownerOf', args: [merchantId] })
/** The service looks at this merchant once, and again when the test says so, however slow the machine is. */
function looksAgainLater(merchantId: bigint): () => void {
  const { promise: waitsFor, resolve } = Promise.withResolvers<void>()
  m.nodes.again = { calls: [isActiveOf(merchantId), ownerOf(merchantId)], waitsFor }
  onTestFinished(() => {
    m.nodes.again = undefined
    resolve()
  })
  return resolve
}
/** How often a node has answered this call. */
const answered = (call: string) => m.nodes.answered.filter((body) => body.includes(call)).length

describe('POST /v1/merchant/register', () => {
  it('answers 201 with the id and the owner that the chain names, and takes nothing but the id [MERCH-06, MERCH-07, MERCH-08, MERCH-09]', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    const { status, body } = await register(m, merchant, merchantId)
    expect(status).toBe(201)
    expect(body).toEqual({ merchant_id: Number(merchantId), owner_address: merchant.address })
  })

  it('accepts the session of the owner in the place of a signature', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    const body = { merchant_id: Number(merchantId) }
    const answer = await m.call('POST', '/v1/merchant/register', {
      token: await sessionOf(m.call, merchant),
      body,
    })
    expect(answer.status).toBe(201)
  })

  it('needs a signature [MERCH-02]', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    const body = { merchant_id: Number(merchantId) }
    expect(await m.call('POST', '/v1/merchant/register', { body })).toMatchObject(unauthorized)
    expect((await register(m, merchant, merchantId)).status).toBe(201)
  })

  it('refuses who does not own the identity, and records nothing [MERCH-03]', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    const { status, body } = await register(m, stranger, merchantId)
    expect([status, body]).toEqual([403, { error: 'caller does not own this merchant' }])
    await m.indexed()
    expect((await m.call('GET', `/v1/merchant/${merchantId}`)).status).toBe(404)
  })

  it('answers a repetition with 409 [MERCH-10]', async () => {
    const merchantId = await openRecorded(m)
    const { status, body } = await register(m, merchant, merchantId)
    expect([status, body]).toEqual([409, { error: 'merchant already registered' }])
  })

  it('counts once when many are sent at the same moment [MERCH-10]', async () => {
    const merchantId = await openMerchant(m.market, merchant)
    const answers = await Promise.all(Array.from({ length: 20 }, () => register(m, merchant, merchantId)))
    const refusals = answers.filter(({ status }) => status !== 201)
    expect(refusals.map(({ status, body }) => [status, body])).toEqual(
      Array(19).fill([409, { error: 'merchant already registered' }]),
    )
  })

  it('takes a merchant that is recorded and closed for a repetition [MERCH-10]', async () => {
    const merchantId = await openRecorded(m)
    await act(m, merchant, 'setActive', merchantId, false)
    const { status, body } = await register(m, merchant, merchantId)
    expect([status, body]).toEqual([409, { error: 'merchant already registered' }])
  })

  it('keeps of the URI of the identity what Postgres can hold, and nothing of one that is too long for a list', async () => {
    const shown: unknown[] = []
    for (const uri of ['https://shop.example/card\0', `data:,${'x'.repeat(8_192)}`]) {
      const merchantId = await registerIdentity(m.market, merchant, uri)
      await act(m, merchant, 'setActive', merchantId, true)
      await register(m, merchant, merchantId)
      await m.indexed()
      shown.push((await m.call('GET', `/v1/merchant/${merchantId}`)).body.metadata_uri)
    }
    expect(shown).toEqual(['https://shop.example/card', undefined])
  })

  it('refuses a body without an id that can be one', async () => {
    for (const body of [{}, { merchant_id: -1 }, { merchant_id: '1' }, { merchant_id: 1.5 }, '{', '[]']) {
      const answer = await m.call('POST', '/v1/merchant/register', { as: merchant, body })
      expect([answer.status, answer.body], JSON.stringify(body)).toEqual([
        400,
        { error: 'invalid request', detail: expect.any(String) },
      ])
    }
  })
})

describe('before it is refused', () => {
  it('what is closed, suspended or nowhere is read again, and then is not recorded [MERCH-04, MERCH-05]', async () => {
    const closed = await registerIdentity(m.market, merchant)
    const suspended = await openMerchant(m.market, merchant)
    await act(m, m.market.accounts.guardian, 'setSuspended', suspended, true)
    const nowhere = 99_999_999n
    const all = [closed, suspended, nowhere]
    const answers = await Promise.all(all.map((merchantId) => register(m, merchant, merchantId)))
    expect(answers.map(({ status, body }) => [status, body])).toEqual([
      [409, { error: 'merchant is not active on-chain' }],
      [409, { error: 'merchant is not active on-chain' }],
      [404, { error: 'merchant not found on-chain' }],
    ])
    for (const merchantId of all) {
      expect(answered(isActiveOf(merchantId))).toBeGreaterThan(1)
      expect(answered(ownerOf(merchantId))).toBeGreaterThan(1)
    }
    await act(m, merchant, 'setActive', closed, true)
    expect((await register(m, merchant, closed)).status).toBe(201)
  })

  it('a merchant that is opened while the service looks is recorded [MERCH-05]', async () => {
    const merchantId = await registerIdentity(m.market, merchant)
    const goOn = looksAgainLater(merchantId)
    const registered = register(m, merchant, merchantId)
    await until(() => answered(isActiveOf(merchantId)), 'the service to see a closed merchant')
    await act(m, merchant, 'setActive', merchantId, true)
    goOn()
    expect((await registered).status).toBe(201)
  })

  it('an identity that is minted while the service looks is recorded [MERCH-05]', async () => {
    const next = (await registerIdentity(m.market, merchant)) + 1n
    const goOn = looksAgainLater(next)
    const registered = register(m, merchant, next)
    await until(() => answered(ownerOf(next)), 'the service to see no owner')
    expect(await openMerchant(m.market, merchant)).toBe(next)
    goOn()
    expect((await registered).status).toBe(201)
  })
})

describe('POST /v1/agent/register', () => {
  it('answers 409 when a merchant registers its agent again [MERCH-11]', async () => {
    const agentId = Number(await openRecorded(m))
    const again = () => m.call('POST', '/v1/agent/register', { as: merchant, body: { agent_id: agentId } })
    expect((await again()).status).toBe(201)
    const { status, body } = await again()
    expect([status, body]).toEqual([409, { error: 'agent already registered' }])
  })
})
