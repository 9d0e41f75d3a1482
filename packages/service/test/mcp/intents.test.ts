// An agent's runner reports the results of intents. The market of this file has no bot.
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { setAgentWallet } from '../calls.ts'
import { send } from '../http/chain.ts'
import { NO_BOT, newAgent, startTestMarket, type TestMarket } from '../http/market.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { EXECUTED, intentsOf, MARKED, POLL, SKIPPED, SKIPPED_AS } from './intents.ts'
import { type SignedArgs, signedArgs } from './two-steps.ts'

const NOWHERE = 99_999_999
const UNKNOWN = '0'.repeat(32)
const HOUR = 3_600

let m: TestMarket
let mcp: McpCaller
let owner: LocalAccount
let agentId: bigint
let its: ReturnType<typeof intentsOf>

beforeAll(async () => {
  m = await startTestMarket({ env: NO_BOT })
  mcp = await connectMcp(m)
  owner = m.market.accounts.reviewer
  agentId = await newAgent(m, owner)
  its = intentsOf(m, mcp, owner)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

const args = (of: bigint | number = agentId) => ({ agent_id: Number(of) })
const failure = (text: string) => ({ isError: true, text })

describe('the tools', () => {
  it('are listed with what they take [MCP-04, MCP-05, MCP-06, MCP-64, MCP-68]', async () => {
    const { tools } = await mcp.client.listTools()
    const fieldsOf = (wanted: string) =>
      Object.keys(tools.find(({ name }) => name === wanted)?.inputSchema.properties ?? {})
    const proof = ['nonce', 'expiry', 'agent_sig', 'chain_id']
    expect(fieldsOf(POLL)).toEqual(['agent_id', ...proof])
    expect(fieldsOf(EXECUTED)).toEqual(['agent_id', 'intent_id', 'result', ...proof])
    expect(fieldsOf(SKIPPED)).toEqual(['agent_id', 'intent_id', 'reason', ...proof])
  })

  it('have none that sets spending limits [MCP-103, SPEND-03]', async () => {
    const { tools } = await mcp.client.listTools()
    expect(tools.length).toBeGreaterThan(15)
    expect(tools.filter(({ name }) => /limit|cap|spend|budget/.test(name))).toEqual([])
    const taken = tools.flatMap(({ inputSchema }) => Object.keys(inputSchema.properties ?? {}))
    expect(taken.filter((field) => /_cap|daily|budget/.test(field))).toEqual([])
  })

  it('have a link to the messenger that is not enabled without a bot [MCP-32]', async () => {
    for (const more of [{}, { agent_sig: '0x12' }]) {
      const answer = await mcp.call('link_messenger', { ...args(), ...more })
      expect(answer).toMatchObject(failure('telegram linking not enabled'))
    }
  })
})

describe('step 1', () => {
  const MARK = 'IntentMarkCommitment'
  it.each([
    [POLL, {}, 'MCP-39, MCP-40', 'IntentAccessCommitment', {}],
    [EXECUTED, { intent_id: 'x' }, 'MCP-65', MARK, { intentId: 'x', result: '' }],
    [EXECUTED, { intent_id: 'x', result: 'é' }, 'MCP-65', MARK, { intentId: 'x', result: 'é' }],
    [
      SKIPPED,
      { intent_id: 'x', reason: 'y' },
      'MCP-69',
      'IntentSkipCommitment',
      { intentId: 'x', reason: 'y' },
    ],
  ])(
    'of %s with %j tells what to sign and keeps nothing [MCP-19, MCP-20, MCP-104, %s]',
    async (name, more, _, primaryType, terms) => {
      const rows = () => m.sql`SELECT * FROM market.intents ORDER BY intent_id`
      const before = await rows()
      const from = Math.floor(Date.now() / 1_000)
      const { structured } = await mcp.call(name, { ...args(), ...more })
      const to = Math.floor(Date.now() / 1_000)
      expect(Object.keys(structured)).toEqual(['status', 'commitment', 'nonce', 'expiry'])
      const { status, commitment, nonce, expiry } = structured
      expect([status, commitment.primaryType]).toEqual(['commitment', primaryType])
      expect(commitment.domain).toMatchObject({ name: 'ReferrerIntents', chainId: m.chainId })
      expect(commitment.message).toEqual({ agentId: String(agentId), ...terms, nonce, expiry })
      expect(nonce).toMatch(/^0x[0-9a-f]{64}$/)
      expect(expiry).toBeGreaterThanOrEqual(from + HOUR)
      expect(expiry).toBeLessThanOrEqual(to + HOUR)
      expect(await rows()).toEqual(before)
    },
  )

  it.each([EXECUTED, SKIPPED])('of %s needs an intent [MCP-77]', async (name) => {
    for (const more of [{}, { intent_id: '' }, { intent_id: null, reason: 'y' }]) {
      expect(await mcp.call(name, { ...args(), ...more })).toMatchObject(failure('intent_id is required'))
    }
  })

  it('needs a reason to skip [MCP-79]', async () => {
    for (const more of [{}, { reason: '' }, { reason: ' ' }]) {
      const answer = await mcp.call(SKIPPED, { ...args(), intent_id: 'x', ...more })
      expect(answer).toMatchObject(failure('reason is required'))
    }
  })

  it.each([
    [EXECUTED, 'result'],
    [SKIPPED, 'reason'],
  ])('of %s takes a %s of 2,000 characters that can be kept', async (name, field) => {
    const ask = async (text: string) => mcp.call(name, { ...args(), intent_id: 'x', [field]: text })
    expect((await ask('€'.repeat(2_000))).isError).toBe(false)
    expect(await ask('€'.repeat(2_001))).toMatchObject(failure(`${field} exceeds 2000 characters`))
    expect(await ask('a\0b')).toMatchObject(failure(`invalid ${field}`))
  })
})

describe('mark_intent_executed', () => {
  it('closes a pending intent with what came of it, and no poll gives it again [MCP-55, MCP-67]', async () => {
    const intentId = await its.queue(agentId)
    expect(await its.polledIds(agentId)).toContain(intentId)
    expect(await its.execute(agentId, intentId, { result: 'escrow 7' })).toMatchObject(MARKED(true))
    expect(await its.polledIds(agentId)).not.toContain(intentId)
    expect(await its.statusOf(agentId, intentId)).toEqual({ status: 'executed', result: 'escrow 7' })
  })

  it('needs no result [MCP-65]', async () => {
    expect(await its.execute(agentId, await its.queue(agentId))).toMatchObject(MARKED(true))
  })

  it('changes nothing the second time, nor does skipping it then [MCP-72]', async () => {
    const intentId = await its.queue(agentId)
    await its.execute(agentId, intentId, { result: 'first' })
    expect(await its.execute(agentId, intentId, { result: 'second' })).toMatchObject(MARKED(false))
    expect(await its.skip(agentId, intentId)).toMatchObject(SKIPPED_AS(false))
    expect(await its.statusOf(agentId, intentId)).toEqual({ status: 'executed', result: 'first' })
  })

  it('takes no other result than what was signed [MCP-66]', async () => {
    const intentId = await its.queue(agentId)
    const signed = await signedArgs(mcp, EXECUTED, owner, { ...args(), intent_id: intentId, result: 'a' })
    for (const change of [{ result: 'b' }, { result: '' }]) {
      const answer = await mcp.call(EXECUTED, { ...signed, ...change })
      expect(answer).toMatchObject(failure(expect.stringMatching(/^signature not from agent owner: /)))
    }
    expect(await its.statusOf(agentId, intentId)).toMatchObject({ status: 'pending' })
  })

  it('says so when it cannot be written, and holds afterwards [MCP-87]', async () => {
    const signed = await signedArgs(mcp, EXECUTED, owner, { ...args(), intent_id: await its.queue(agentId) })
    await m.withoutTable('market.intents', async () => {
      expect(await mcp.call(EXECUTED, signed)).toMatchObject(failure('mark intent executed'))
    })
    expect(await mcp.call(EXECUTED, signed)).toMatchObject(MARKED(true))
  })
})

describe('mark_intent_skipped', () => {
  it('closes a pending intent with the reason [MCP-71]', async () => {
    const intentId = await its.queue(agentId)
    expect(await its.skip(agentId, intentId, 'over budget')).toMatchObject(SKIPPED_AS(true))
    expect(await its.polledIds(agentId)).not.toContain(intentId)
    expect(await its.statusOf(agentId, intentId)).toEqual({ status: 'skipped', reason: 'over budget' })
  })

  it('changes nothing the second time, nor does executing it then [MCP-73]', async () => {
    const intentId = await its.queue(agentId)
    await its.skip(agentId, intentId, 'first')
    expect(await its.skip(agentId, intentId, 'second')).toMatchObject(SKIPPED_AS(false))
    expect(await its.execute(agentId, intentId)).toMatchObject(MARKED(false))
    expect(await its.statusOf(agentId, intentId)).toEqual({ status: 'skipped', reason: 'first' })
  })

  it('takes no other reason than what was signed [MCP-70]', async () => {
    const intentId = await its.queue(agentId)
    const signed = await signedArgs(mcp, SKIPPED, owner, { ...args(), intent_id: intentId, reason: 'a' })
    const answer = await mcp.call(SKIPPED, { ...signed, reason: 'b' })
    expect(answer).toMatchObject(failure(expect.stringMatching(/^signature not from agent owner: /)))
    expect(await its.statusOf(agentId, intentId)).toMatchObject({ status: 'pending' })
  })

  it('says so when it cannot be written, and holds afterwards [MCP-88]', async () => {
    const asked = { ...args(), intent_id: await its.queue(agentId), reason: 'a' }
    const signed = await signedArgs(mcp, SKIPPED, owner, asked)
    await m.withoutTable('market.intents', async () => {
      expect(await mcp.call(SKIPPED, signed)).toMatchObject(failure('mark intent skipped'))
    })
    expect(await mcp.call(SKIPPED, signed)).toMatchObject(SKIPPED_AS(true))
  })
})

describe('either mark', () => {
  it('is false for an intent that is unknown [MCP-74]', async () => {
    for (const intentId of [UNKNOWN, 'nonsense']) {
      expect(await its.execute(agentId, intentId)).toMatchObject(MARKED(false))
      expect(await its.skip(agentId, intentId)).toMatchObject(SKIPPED_AS(false))
    }
  })

  it('is false for an intent of another agent, which stays pending [MCP-75]', async () => {
    const intentId = await its.queue(agentId)
    const of = await newAgent(m, owner)
    expect(await its.execute(of, intentId)).toMatchObject(MARKED(false))
    expect(await its.skip(of, intentId)).toMatchObject(SKIPPED_AS(false))
    expect(await its.statusOf(agentId, intentId)).toEqual({ status: 'pending' })
  })

  it('is true for one of all who mark it at the same moment [MCP-72, MCP-73]', async () => {
    const intentId = await its.queue(agentId)
    const asked = { ...args(), intent_id: intentId, reason: 'a' }
    const executed = await signedArgs(mcp, EXECUTED, owner, asked)
    const skipped = await signedArgs(mcp, SKIPPED, owner, asked)
    const answers = await Promise.all(
      Array.from({ length: 4 }, () => [mcp.call(EXECUTED, executed), mcp.call(SKIPPED, skipped)]).flat(),
    )
    const done = answers.filter(({ structured }) => structured.marked || structured.skipped)
    expect(done).toHaveLength(1)
    const status = done[0]?.structured.marked ? 'executed' : 'skipped'
    expect(await its.statusOf(agentId, intentId)).toMatchObject({ status })
  })

  it('needs an intent, and a reason to skip, in step 2 too, and says so first [MCP-78, MCP-80]', async () => {
    const without = (text: string) => failure(`${text} is required with agent_sig`)
    for (const name of [EXECUTED, SKIPPED]) {
      expect(await mcp.call(name, { ...args(), agent_sig: '0x12' })).toMatchObject(without('intent_id'))
    }
    const noReason = { ...args(), intent_id: UNKNOWN, agent_sig: '0x12' }
    expect(await mcp.call(SKIPPED, noReason)).toMatchObject(without('reason'))
  })
})

describe.each([
  [POLL, {}],
  [EXECUTED, { intent_id: UNKNOWN, result: 'x' }],
  [SKIPPED, { intent_id: UNKNOWN, reason: 'x' }],
])('step 2 of %s', (name, more) => {
  const signed = (signer = owner, of: bigint | number = agentId) =>
    signedArgs(mcp, name, signer, { ...args(of), ...more })

  it.each<[string, (body: SignedArgs) => object, string]>([
    ['no nonce [MCP-81]', ({ nonce: _, ...rest }) => rest, 'nonce and expiry are required with agent_sig'],
    ['no expiry [MCP-81]', ({ expiry: _, ...rest }) => rest, 'nonce and expiry are required with agent_sig'],
    [
      'an expiry that is past [MCP-82]',
      (body) => ({ ...body, expiry: body.expiry - HOUR - 1 }),
      'commitment expired',
    ],
    [
      'a decimal nonce [MCP-83]',
      (body) => ({ ...body, nonce: '123' }),
      'invalid nonce: must be 0x-prefixed 32-byte hex',
    ],
    [
      'a short signature [MCP-84]',
      (body) => ({ ...body, agent_sig: '0x12' }),
      'invalid agent_sig: must be 0x-prefixed 65-byte hex',
    ],
  ])('refuses %s', async (_, change, text) => {
    expect(await mcp.call(name, { ...change(await signed()) })).toMatchObject(failure(text))
  })

  it('is of the owner, not of a stranger or the wallet that the agent is bound to [MCP-85, MCP-89]', async () => {
    const { stranger, guardian } = m.market.accounts
    const agent = await newAgent(m, owner)
    const { timestamp } = await m.market.client.getBlock()
    await send(m, await setAgentWallet(m, owner, { agentId: agent, wallet: guardian }, timestamp))
    for (const signer of [stranger, guardian]) {
      const text = `signature not from agent owner: recovered ${signer.address}, want ${owner.address}`
      expect(await mcp.call(name, await signed(signer, agent))).toMatchObject(failure(text))
    }
    expect((await mcp.call(name, await signed(owner, agent))).isError).toBe(false)
  })

  it('needs an agent that exists', async () => {
    const answer = await mcp.call(name, await signed(owner, NOWHERE))
    expect(answer).toMatchObject(failure(`agent ${NOWHERE} not found on-chain`))
  })
})
