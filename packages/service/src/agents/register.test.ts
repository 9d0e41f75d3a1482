import { confirmed, registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type LocalAccount, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { startTestMarket, type TestMarket } from '../../test/http/market.ts'
import { until } from '../workers/testing.ts'

const OWNER_OF = toFunctionSelector('ownerOf(uint256)').slice(2)

let m: TestMarket
let owner: LocalAccount
/** What the service asked its nodes for. */
let asked: string[] = []
/** While it is set, the records stand still: of the chain, only contracts can be read. */
let standstill: Promise<void> | undefined

beforeAll(async () => {
  m = await startTestMarket({
    overrides: {
      fetch: async (input, init) => {
        const body = String(init?.body)
        asked.push(body)
        if (!body.includes('eth_call')) await standstill
        return fetch(input, init)
      },
    },
  })
  owner = m.market.accounts.reviewer
})
afterAll(() => m.close())

const register = (agentId: bigint, as = owner) =>
  m.call('POST', '/v1/agent/register', { as, body: { agent_id: Number(agentId) } })

it('counts one of many registrations at the same moment, on an agent that the records have not seen', async () => {
  await registerIdentity(m.market, owner)
  const agentId = await registerIdentity(m.market, owner)
  const answers = await Promise.all(Array.from({ length: 12 }, () => register(agentId)))
  const refusals = answers.filter(({ status }) => status !== 201)
  expect(refusals).toHaveLength(11)
  for (const { status, body } of refusals) {
    expect({ status, body }).toEqual({ status: 409, body: { error: 'agent already registered' } })
  }
})

it('waits for an agent that is about to be minted', async () => {
  const next = (await registerIdentity(m.market, owner)) + 1n
  asked = []
  const answer = register(next)
  await until(() => asked.some((body) => body.includes(OWNER_OF)), 'a read of the owner')
  expect(await registerIdentity(m.market, owner, 'https://agent.test/card')).toBe(next)
  expect((await answer).status).toBe(201)
  const { status, body } = await m.call('GET', `/v1/agent/${next}`)
  expect(status).toBe(200)
  expect(body).toMatchObject({ agent_uri: 'https://agent.test/card', payment_wallet: owner.address })
})

it('answers when the agent can be read here', async () => {
  const { promise, resolve: goOn } = Promise.withResolvers<void>()
  standstill = promise
  onTestFinished(() => goOn())
  const agentId = await registerIdentity(m.market, owner)
  let isAnswered = false
  const answer = register(agentId).finally(() => {
    isAnswered = true
  })
  await until(async () => {
    const rows = await m.sql`
      SELECT FROM market.agents WHERE agent_id = ${agentId} AND registered_at IS NOT NULL`
    return rows.length > 0
  }, 'the registration')
  expect((await m.call('GET', `/v1/agent/${agentId}`)).status).toBe(404)
  expect(isAnswered).toBe(false)
  goOn()
  expect((await answer).status).toBe(201)
  expect((await m.call('GET', `/v1/agent/${agentId}`)).status).toBe(200)
})

it('keeps of a URI what Postgres can hold, and nothing of one that is too long for a list', async () => {
  const uriOf = async (uri: string) => {
    const agentId = await registerIdentity(m.market, owner, uri)
    expect((await register(agentId)).status).toBe(201)
    return (await m.call('GET', `/v1/agent/${agentId}`)).body.agent_uri
  }
  expect(await uriOf('a\0b🦊')).toBe('ab🦊')
  expect(await uriOf(`data:,${'x'.repeat(8_186)}`)).toHaveLength(8_192)
  expect(await uriOf(`data:,${'x'.repeat(8_187)}`)).toBe('')
})

it('does not show the wallet of a former owner', async () => {
  const { stranger } = m.market.accounts
  const agentId = await registerIdentity(m.market, owner)
  expect((await register(agentId)).status).toBe(201)
  const hash = await m.market.client.writeContract({
    account: owner,
    address: m.market.addresses.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'transferFrom',
    args: [owner.address, stranger.address, agentId],
  })
  await confirmed(m.market, hash)
  await m.indexed()
  const { body } = await m.call('GET', `/v1/agent/${agentId}`)
  expect(body).toMatchObject({ owner_address: stranger.address, payment_wallet: '' })
  const { body: list } = await m.call('GET', `/v1/agent?owner=${stranger.address.toLowerCase()}`)
  expect(list.total).toBe(1)
  expect(list.agents[0]).not.toHaveProperty('payment_wallet')
})
