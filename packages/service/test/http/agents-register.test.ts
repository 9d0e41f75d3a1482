import { registerIdentity } from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { type Address, encodeFunctionData, type LocalAccount, toFunctionSelector } from 'viem'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { call, setAgentWallet } from '../calls.ts'
import { connectMcp } from '../mcp/client.ts'
import { signatureHeaders } from './caller.ts'
import { send } from './chain.ts'
import { startTestMarket, type TestMarket } from './market.ts'

const OTHER_CHAIN = 31_338
const NOWHERE = 99_999_999
const TOKEN_URI = toFunctionSelector('tokenURI(uint256)').slice(2)
const AGENT_WALLET = toFunctionSelector('getAgentWallet(uint256)').slice(2)
const CARD = 'https://agent.test/card.json'

let m: TestMarket
let owner: LocalAccount
let stranger: LocalAccount
/** The calls that the service's nodes have answered. */
const asked: string[] = []
/** Faults for calls, by a part of their JSON. */
const faults = new Map<string, 'unreachable' | 'reverted'>()
/** A call that waits, once it was answered before. */
let again: { call: string; waitsFor: Promise<void> } | undefined
/** While set, the indexer stands still; only contracts can be read from the chain. */
let standstill: Promise<void> | undefined

beforeAll(async () => {
  m = await startTestMarket({
    chainIds: [31_337, OTHER_CHAIN],
    overrides: {
      fetch: async (input, init) => {
        const body = String(init?.body)
        const [, fault] = [...faults].find(([piece]) => body.includes(piece)) ?? []
        if (fault === 'unreachable') throw new TypeError('fetch failed')
        if (fault) return Response.json({ id: 0, error: { code: 3, message: 'execution reverted' } })
        if (!body.includes('eth_call')) await standstill
        const isAgain = (made: string) => again !== undefined && made.includes(again.call)
        if (isAgain(body) && asked.some(isAgain)) await again?.waitsFor
        const answer = await fetch(input, init)
        asked.push(body)
        return answer
      },
    },
  })
  ;({ reviewer: owner, stranger } = m.market.accounts)
  // The first identities have the id 0.
  for (const { market } of m.chains) await registerIdentity(market, owner)
})
afterAll(() => m.close())

const post = (body: unknown, as = owner, query = '') =>
  m.call('POST', `/v1/agent/register${query}`, { as, body })
const register = (agentId: bigint | number, as = owner) => post({ agent_id: Number(agentId) }, as)
const agent = async (agentId: bigint) => (await m.call('GET', `/v1/agent/${agentId}`)).body
const mint = (uri = '') => registerIdentity(m.market, owner, uri)
const ownerCall = (agentId: bigint) =>
  encodeFunctionData({ abi: identityRegistryAbi, functionName: 'ownerOf', args: [agentId] })
/** How often a node has told the service the owner of this agent. */
const ownerReads = (agentId: bigint) => asked.filter((body) => body.includes(ownerCall(agentId))).length

const wholeSeconds = () => new Date().toISOString().replace(/\.\d+/, '')

/** Gives an agent another wallet than its owner's. */
async function giveWallet(agentId: bigint): Promise<Address> {
  const { walletBuyer: wallet } = m.market.accounts
  const { timestamp } = await m.market.client.getBlock()
  await send(m, await setAgentWallet(m, owner, { agentId, wallet }, timestamp))
  return wallet.address
}

async function withFault<T>(piece: string, fault: 'unreachable' | 'reverted', work: () => Promise<T>) {
  faults.set(piece, fault)
  try {
    return await work()
  } finally {
    faults.delete(piece)
  }
}

describe('a registration', () => {
  it('is answered with 201, the id and the owner that the chain names, and nothing else [AGENT-55, AGENT-56, AGENT-57]', async () => {
    const agentId = await mint()
    const { status, body } = await register(agentId)
    expect(status).toBe(201)
    const owner_address = await m.market.client.readContract({
      address: m.market.addresses.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [agentId],
    })
    expect(body).toEqual({ agent_id: Number(agentId), owner_address })
  })

  it('makes an identity of the chain an agent with its id and its owner [AGENT-01]', async () => {
    const agentId = await registerIdentity(m.market, stranger)
    expect((await register(agentId, stranger)).status).toBe(201)
    expect(await agent(agentId)).toMatchObject({
      agent_id: Number(agentId),
      owner_address: stranger.address,
    })
  })

  it('needs a good and recent signature [AGENT-53, AGENT-54]', async () => {
    const agentId = await mint(CARD)
    const body = JSON.stringify({ agent_id: Number(agentId) })
    const now = Math.floor(Date.now() / 1_000)
    const good = await signatureHeaders(owner, body, now)
    const refused: Record<string, string>[] = [
      {},
      { 'x-agent-timestamp': String(now) },
      { ...good, 'x-agent-signature': 'signed' },
      { ...good, 'x-agent-signature': `0x${'00'.repeat(65)}` },
      await signatureHeaders(owner, body, now - 90),
    ]
    for (const headers of refused) {
      const answer = await m.call('POST', '/v1/agent/register', { body, headers })
      expect(answer, JSON.stringify(headers)).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    }
    expect((await m.call('POST', '/v1/agent/register', { body, headers: good })).status).toBe(201)
  })

  it.each<[string, unknown]>([
    ['a negative id [AGENT-58]', { agent_id: -1 }],
    ['no JSON [AGENT-59]', 'agent_id=1'],
    ['a JSON text that ends early [AGENT-59]', '{"agent_id":1'],
    ['no body at all [AGENT-59]', undefined],
    ['a list [AGENT-59]', '[1]'],
    ['an id in words [AGENT-60]', { agent_id: 'one' }],
    ['an id as text [AGENT-60]', { agent_id: '1' }],
    ['an id with a fraction [AGENT-60]', { agent_id: 1.5 }],
    ['an id that is true [AGENT-60]', { agent_id: true }],
    ['an id that a double cannot hold [AGENT-60]', '{"agent_id":9007199254740993}'],
  ])('is refused with %s', async (_, body) => {
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: 'invalid agent_id', detail: expect.any(String) },
    ])
  })

  it('may be of agent 0, which is also the one that is meant when none is named [AGENT-61, AGENT-62]', async () => {
    const elsewhere = `?chain_id=${OTHER_CHAIN}`
    const zero = { agent_id: 0, owner_address: owner.address }
    expect(await post({ agent_id: 0 }, owner, elsewhere)).toMatchObject({ status: 201, body: zero })
    const ofStranger = await post({}, stranger)
    expect([ofStranger.status, ofStranger.body]).toEqual([403, { error: 'caller does not own this agent' }])
    expect(await post({}, owner)).toMatchObject({ status: 201, body: zero })
    expect(await post({}, owner, elsewhere)).toMatchObject({ status: 409 })
  })

  it('tells whoever misspelled the field, which counts as left out, what it is called', async () => {
    expect(await post({ agentId: 7 }, stranger)).toMatchObject({
      status: 403,
      body: {
        error: 'caller does not own this agent',
        detail: 'the body has an unknown field; known fields are agent_id',
      },
    })
  })

  it('is for the owner only [AGENT-63]', async () => {
    const agentId = await mint(CARD)
    const { status, body } = await register(agentId, stranger)
    expect([status, body]).toEqual([403, { error: 'caller does not own this agent' }])
    expect((await register(agentId)).status).toBe(201)
  })

  it('cannot be repeated [AGENT-66 otherwise]', async () => {
    const agentId = await mint()
    expect((await register(agentId)).status).toBe(201)
    for (let again = 0; again < 2; again += 1) {
      const { status, body } = await register(agentId)
      expect([status, body]).toEqual([409, { error: 'agent already registered' }])
    }
  })

  it('counts once when many are sent at the same moment [AGENT-66 otherwise]', async () => {
    const agentId = await mint()
    const answers = await Promise.all(Array.from({ length: 12 }, () => register(agentId)))
    const refusals = answers.filter(({ status }) => status !== 201)
    expect(refusals.map(({ status, body }) => [status, body])).toEqual(
      Array(11).fill([409, { error: 'agent already registered' }]),
    )
  })

  it('is answered when the agent can be read here', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>()
    standstill = promise
    onTestFinished(() => {
      standstill = undefined
      goOn()
    })
    const agentId = await mint()
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

  it('of what is not on the chain is refused only after the chain was asked again [AGENT-64, AGENT-65]', async () => {
    const { status, body } = await register(NOWHERE)
    expect([status, body]).toEqual([404, { error: 'agent not found on-chain' }])
    expect(ownerReads(BigInt(NOWHERE))).toBeGreaterThan(1)
  })

  it('counts when the agent is minted while the service looks [AGENT-65]', async () => {
    const next = (await mint()) + 1n
    const { promise: waitsFor, resolve: goOn } = Promise.withResolvers<void>()
    again = { call: ownerCall(next), waitsFor }
    onTestFinished(() => goOn())
    const answer = register(next)
    await until(() => ownerReads(next), 'the service to see no owner')
    expect(await mint()).toBe(next)
    goOn()
    expect((await answer).status).toBe(201)
  })

  it('fails as an internal error when the chain or the records cannot be asked, and can be tried again [AGENT-67]', async () => {
    const agentId = await mint()
    await m.indexed()
    const answers = [
      await withFault(ownerCall(agentId), 'unreachable', () => register(agentId)),
      await m.withoutTable('market.agents', () => register(agentId)),
    ]
    for (const { status, body } of answers) expect([status, body]).toEqual([500, { error: 'internal error' }])
    expect((await register(agentId)).status).toBe(201)
  })
})

describe('what an agent says of itself', () => {
  it('is read from the chain when it registers, not before [AGENT-46, AGENT-68]', async () => {
    const agentId = await mint(CARD)
    await m.indexed()
    expect(await agent(agentId)).toMatchObject({ agent_uri: '', payment_wallet: '' })
    expect((await register(agentId)).status).toBe(201)
    expect(await agent(agentId)).toMatchObject({ agent_uri: CARD, payment_wallet: owner.address })
  })

  it('is what the events of the chain say when no node can be asked for the URI, and empty when they say nothing [AGENT-69 otherwise]', async () => {
    for (const fault of ['unreachable', 'reverted'] as const) {
      const [told, silent] = [await mint(CARD), await mint()]
      for (const agentId of [told, silent]) {
        expect((await withFault(TOKEN_URI, fault, () => register(agentId))).status).toBe(201)
      }
      expect(await agent(told), fault).toMatchObject({ agent_uri: CARD, payment_wallet: owner.address })
      expect(await agent(silent), fault).toMatchObject({ agent_uri: '', payment_wallet: owner.address })
    }
  })

  it('is the wallet that the events of the chain name when no node can be asked for it, and the owner when they name none [AGENT-70 otherwise]', async () => {
    for (const fault of ['unreachable', 'reverted'] as const) {
      const [named, unnamed] = [await mint(CARD), await mint(CARD)]
      const wallet = await giveWallet(named)
      await send(m, call(m, owner, 'IdentityRegistry', 'unsetAgentWallet', [unnamed]))
      await m.indexed()
      for (const agentId of [named, unnamed]) {
        expect((await withFault(AGENT_WALLET, fault, () => register(agentId))).status).toBe(201)
      }
      expect(await agent(named), fault).toMatchObject({ agent_uri: CARD, payment_wallet: wallet })
      expect(await agent(unnamed), fault).toMatchObject({ agent_uri: CARD, payment_wallet: owner.address })
    }
  })

  it('is the wallet that it is paid at, where it has another one than its owner [AGENT-68]', async () => {
    const agentId = await mint()
    const wallet = await giveWallet(agentId)
    expect((await register(agentId)).status).toBe(201)
    expect(await agent(agentId)).toMatchObject({ agent_uri: '', payment_wallet: wallet })
  })
})

describe('the profile of an agent that a stranger made known', () => {
  it('follows the chain: URI, wallet and owner are what they are there now [AGENT-68]', async () => {
    const mcp = await connectMcp(m)
    onTestFinished(() => mcp.close())
    const { guardian } = m.market.accounts
    const agentId = await mint('https://agent.test/unfinished.json')
    expect((await mcp.call('register_agent', { agent_id: Number(agentId) })).isError).toBe(false)
    expect(await agent(agentId)).toMatchObject({ agent_uri: 'https://agent.test/unfinished.json' })
    await send(m, call(m, owner, 'IdentityRegistry', 'setAgentURI', [agentId, CARD]))
    const wallet = await giveWallet(agentId)
    await m.indexed()
    expect(await agent(agentId)).toMatchObject({ agent_uri: CARD, payment_wallet: wallet })
    const { body: list } = await m.call('GET', `/v1/agent?owner=${owner.address}`)
    const listed = list.agents.find(({ agent_id }: { agent_id: number }) => agent_id === Number(agentId))
    expect(listed).toMatchObject({ agent_uri: CARD, payment_wallet: wallet })
    await send(m, call(m, owner, 'IdentityRegistry', 'unsetAgentWallet', [agentId]))
    await m.indexed()
    expect(await agent(agentId)).toMatchObject({ agent_uri: CARD, payment_wallet: owner.address })
    await giveWallet(agentId)
    await send(
      m,
      call(m, owner, 'IdentityRegistry', 'transferFrom', [owner.address, guardian.address, agentId]),
    )
    await m.indexed()
    expect(await agent(agentId)).toMatchObject({
      owner_address: guardian.address,
      agent_uri: CARD,
      payment_wallet: '',
    })
  })

  it('was recorded when the service first knew of it, whenever it was registered [AGENT-24]', async () => {
    const agentId = await mint()
    await m.indexed()
    await m.sql`UPDATE market.agents SET recorded_at = '2026-01-02T03:04:05Z' WHERE agent_id = ${agentId} AND chain_id = ${m.chainId}`
    expect((await register(agentId)).status).toBe(201)
    expect((await agent(agentId)).registered_at).toBe('2026-01-02T03:04:05Z')
  })
})

describe('what is shown of it', () => {
  it('is of a URI what Postgres can hold, and nothing of one that is too long for a list', async () => {
    const uriOf = async (uri: string) => {
      const agentId = await mint(uri)
      expect((await register(agentId)).status).toBe(201)
      return (await agent(agentId)).agent_uri
    }
    expect(await uriOf('a\0b🦊')).toBe('ab🦊')
    expect(await uriOf(`data:,${'x'.repeat(8_186)}`)).toHaveLength(8_192)
    expect(await uriOf(`data:,${'x'.repeat(8_187)}`)).toBe('')
  })

  it('is not the wallet of a former owner, and the new one can register [AGENT-66 otherwise]', async () => {
    const { treasury } = m.market.accounts
    const agentId = await mint()
    expect((await register(agentId)).status).toBe(201)
    const handOver = [owner.address, treasury.address, agentId]
    await send(m, call(m, owner, 'IdentityRegistry', 'transferFrom', handOver))
    await m.indexed()
    expect(await agent(agentId)).toMatchObject({ owner_address: treasury.address, payment_wallet: '' })
    const { body: list } = await m.call('GET', `/v1/agent?owner=${treasury.address.toLowerCase()}`)
    expect(list.total).toBe(1)
    expect(list.agents[0]).not.toHaveProperty('payment_wallet')
    expect(await register(agentId, treasury)).toMatchObject({
      status: 201,
      body: { owner_address: treasury.address },
    })
    expect(await agent(agentId)).toMatchObject({ payment_wallet: treasury.address })
    expect((await register(agentId, treasury)).status).toBe(409)
  })
})

describe('the moment of registration', () => {
  it('is when the service recorded the agent, not when it was minted [AGENT-24]', async () => {
    // The chain's clock is a day ahead of all others.
    await m.market.client.increaseTime({ seconds: 24 * 60 * 60 })
    const learned = await mint()
    await m.indexed()
    const from = wholeSeconds()
    const registered = await mint()
    expect((await register(registered)).status).toBe(201)
    const to = wholeSeconds()
    const { body } = await m.call('GET', `/v1/agent?owner=${owner.address}`)
    const at = (agentId: bigint): string =>
      body.agents.find(({ agent_id }: { agent_id: number }) => agent_id === Number(agentId)).registered_at
    expect(at(learned) <= to).toBe(true)
    expect(at(registered) >= from && at(registered) <= to).toBe(true)
    expect((await agent(registered)).registered_at).toBe(at(registered))
  })
})
