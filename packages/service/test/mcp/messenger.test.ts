// The tool that links a wallet to a chat. The market of this file has a bot, and no queue of intents.
import { createHash } from 'node:crypto'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answererOf } from '../../src/doors/chat/answer.ts'
import { sweepLinks } from '../../src/market/messenger/store.ts'
import { setAgentWallet } from '../calls.ts'
import { naming } from '../http/caller.ts'
import { send } from '../http/chain.ts'
import { giveToContract, ownedBy } from '../http/contract-wallets.ts'
import { newAgent, SILENT_BOT, startTestMarket, type TestMarket } from '../http/market.ts'
import { connectMcp, type McpCaller } from './client.ts'
import { type SignedArgs, signedArgs } from './two-steps.ts'

const LINK = 'link_messenger'
const NOWHERE = 99_999_999
const HOUR = 3_600
const DEEP_LINK = /^https:\/\/t\.me\/referrer_test_bot\?start=([\w-]{43})$/
const USED = 'commitment nonce already used'

let m: TestMarket
let mcp: McpCaller
let owner: LocalAccount
let agentId: bigint

beforeAll(async () => {
  m = await startTestMarket({
    env: { ...SILENT_BOT, LINK_CODE_SECONDS: '120', INTENTS: 'off' },
  })
  mcp = await connectMcp(m)
  owner = m.market.accounts.reviewer
  agentId = await newAgent(m, owner)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

const args = (of: bigint | number = agentId) => ({ agent_id: Number(of) })
const signed = (signer = owner, of: bigint | number = agentId) => signedArgs(mcp, LINK, signer, args(of))
const failure = (text: string) => ({ isError: true, text })
const kept = async () => [
  await m.sql`SELECT * FROM market.link_codes ORDER BY code_hash`,
  await m.sql`SELECT * FROM market.burned_nonces ORDER BY nonce`,
]

describe('step 1', () => {
  it('tells what to sign and keeps nothing [MCP-03, MCP-19, MCP-20, MCP-21, MCP-22, MCP-23]', async () => {
    const { tools } = await mcp.client.listTools()
    const { inputSchema } = tools.find(({ name }) => name === LINK) ?? {}
    expect(Object.keys(inputSchema?.properties ?? {})).toEqual([
      'agent_id',
      'nonce',
      'expiry',
      'agent_sig',
      'chain_id',
    ])
    const before = await kept()
    const [from, { isError, structured }, to] = [Date.now(), await mcp.call(LINK, args()), Date.now()]
    expect(isError).toBe(false)
    expect(Object.keys(structured)).toEqual(['status', 'commitment', 'nonce', 'expiry'])
    expect(structured.status).toBe('commitment')
    expect(structured.nonce).toMatch(/^0x[0-9a-f]{64}$/)
    expect(structured.expiry).toBeGreaterThanOrEqual(Math.floor(from / 1_000) + HOUR)
    expect(structured.expiry).toBeLessThanOrEqual(Math.floor(to / 1_000) + HOUR)
    const { nonce, expiry, commitment } = structured
    expect(commitment).toMatchObject({
      primaryType: 'TelegramLinkCommitment',
      domain: { name: 'ReferrerMessengerLink', chainId: m.chainId },
      message: { agentId: String(agentId), nonce, expiry },
    })
    expect(commitment.types.TelegramLinkCommitment).toEqual([
      { name: 'agentId', type: 'uint256' },
      { name: 'nonce', type: 'bytes32' },
      { name: 'expiry', type: 'uint256' },
    ])
    expect(await kept()).toEqual(before)
  })
})

describe('step 2', () => {
  it('gives a link with a code of the owner, of which only a hash is kept [MCP-19, MCP-24, MCP-25, MCP-26]', async () => {
    const [from, { isError, structured }, to] = [Date.now(), await mcp.call(LINK, await signed()), Date.now()]
    expect(isError).toBe(false)
    expect(Object.keys(structured)).toEqual(['status', 'deep_link', 'expires_at'])
    expect(structured.status).toBe('linked')
    expect(structured.deep_link).toMatch(DEEP_LINK)
    const expiresAt = Date.parse(structured.expires_at)
    expect(expiresAt).toBeGreaterThanOrEqual(from + 120_000)
    expect(expiresAt).toBeLessThanOrEqual(to + 120_000)
    const [, code = ''] = DEEP_LINK.exec(structured.deep_link) ?? []
    const rows = await m.sql`
      SELECT direction, '0x' || encode(owner, 'hex') AS owner, channel, chat, code, expires_at FROM market.link_codes
      WHERE code_hash = ${createHash('sha256').update(code).digest()}`
    expect([...rows]).toEqual([
      {
        direction: 'chat',
        owner: owner.address.toLowerCase(),
        channel: null,
        chat: null,
        code: null,
        expires_at: new Date(expiresAt),
      },
    ])
  })

  it('counts once, in whatever case its nonce comes again [MCP-28, MCP-29]', async () => {
    const body = await signed()
    expect((await mcp.call(LINK, body)).isError).toBe(false)
    const again = await kept()
    for (const nonce of [body.nonce, `0x${body.nonce.slice(2).toUpperCase()}`]) {
      expect(await mcp.call(LINK, { ...body, nonce })).toMatchObject(failure(USED))
    }
    expect(await kept()).toEqual(again)
    expect((await mcp.call(LINK, await signed())).isError).toBe(false)
  })

  it('counts once when many bring it at the same moment [MCP-28]', async () => {
    const body = await signed()
    const answers = await Promise.all(Array.from({ length: 8 }, () => mcp.call(LINK, body)))
    const refusals = answers.filter(({ isError }) => isError)
    expect(refusals.map(({ text }) => text)).toEqual(Array.from({ length: 7 }, () => USED))
  })

  it('is used up when no code could be minted, which it says [MCP-30, MCP-38]', async () => {
    const body = await signed()
    await m.withoutTable('market.link_codes', async () => {
      expect(await mcp.call(LINK, body)).toMatchObject(failure(expect.stringMatching(/^mint link code: /)))
    })
    expect(await mcp.call(LINK, body)).toMatchObject(failure(USED))
  })

  it('is not used up when the nonce could not be burned', async () => {
    const body = await signed()
    await m.withoutTable('market.burned_nonces', async () => {
      expect(await mcp.call(LINK, body)).toMatchObject(failure('burn commitment nonce'))
    })
    expect((await mcp.call(LINK, body)).isError).toBe(false)
  })

  it('is of the owner, not of a stranger or the wallet that the agent is bound to, and burns nothing else [MCP-27]', async () => {
    const { stranger, guardian } = m.market.accounts
    const agent = await newAgent(m, owner)
    const { timestamp } = await m.market.client.getBlock()
    await send(m, await setAgentWallet(m, owner, { agentId: agent, wallet: guardian }, timestamp))
    const before = await kept()
    for (const signer of [stranger, guardian]) {
      const text = `signature not from agent owner: recovered ${signer.address}, want ${owner.address}`
      expect(await mcp.call(LINK, await signed(signer, agent))).toMatchObject(failure(text))
    }
    expect(await kept()).toEqual(before)
    await giveToContract(m, owner, agent, ownedBy(owner.address))
    expect((await mcp.call(LINK, await signed(owner, agent))).isError).toBe(false)
  })

  it('is of the agent that was signed for [MCP-106]', async () => {
    const other = await newAgent(m, owner)
    const answer = await mcp.call(LINK, { ...(await signed()), ...args(other) })
    expect(answer).toMatchObject(
      failure(expect.stringMatching(/^signature not from agent owner: recovered /)),
    )
  })

  it('needs an agent that exists [MCP-37]', async () => {
    const answer = await mcp.call(LINK, await signed(owner, NOWHERE))
    expect(answer).toMatchObject(failure(`agent ${NOWHERE} not found on-chain`))
  })

  const REQUIRED = 'nonce and expiry are required with agent_sig'
  const NONCE = 'invalid nonce: must be 0x-prefixed 32-byte hex'
  const SIGNATURE = 'invalid agent_sig: must be 0x-prefixed 65-byte hex'
  it.each<[string, (body: SignedArgs) => object, string]>([
    ['no nonce [MCP-33]', ({ nonce: _, ...rest }) => rest, REQUIRED],
    ['no expiry [MCP-33]', ({ expiry: _, ...rest }) => rest, REQUIRED],
    [
      'an expiry that is past, though the rest is wrong too [MCP-34]',
      (body) => ({ ...body, expiry: body.expiry - HOUR - 1, nonce: '7', agent_sig: '0x12' }),
      'commitment expired',
    ],
    [
      'a decimal nonce, though the signature is short [MCP-35]',
      (body) => ({ ...body, nonce: '123', agent_sig: '0x12' }),
      NONCE,
    ],
    ['a short signature [MCP-36]', (body) => ({ ...body, agent_sig: '0x12' }), SIGNATURE],
  ])('refuses %s', async (_, change, text) => {
    expect(await mcp.call(LINK, { ...change(await signed()) })).toMatchObject(failure(text))
  })
})

it('forgets codes and nonces when nothing can be done with them any more', async () => {
  await m.sql`
    INSERT INTO market.link_codes (code_hash, direction, owner, minted_at, expires_at)
    SELECT sha256(name::bytea), 'chat', ''::bytea, now(), now() + age
    FROM (VALUES ('old', INTERVAL '-1 second'), ('new', INTERVAL '1 minute')) AS codes (name, age)`
  await m.sql`
    INSERT INTO market.burned_nonces SELECT 1, sha256(name::bytea), now() + age
    FROM (VALUES ('old', INTERVAL '-61 minutes'), ('new', INTERVAL '-59 minutes')) AS nonces (name, age)`
  await sweepLinks.run({ sql: m.sql, signal: new AbortController().signal })
  const left = await m.sql`
    SELECT name, sha256(name::bytea) IN (SELECT code_hash FROM market.link_codes) AS has_code,
      sha256(name::bytea) IN (SELECT nonce FROM market.burned_nonces) AS has_nonce
    FROM (VALUES ('old'), ('new')) AS names (name)`
  expect([...left]).toEqual([
    { name: 'old', has_code: false, has_nonce: false },
    { name: 'new', has_code: true, has_nonce: true },
  ])
})

describe('without a queue of intents', () => {
  it('/buy in a chat says so, and offers nothing', async () => {
    const { context } = m.service
    const channel = context.channels.get('telegram')
    if (!channel) throw new Error('the market has no bot')
    const answer = await answererOf(context)({ channel, chat: '1', text: '/buy weather' })
    expect(answer).toEqual({ text: 'Purchases cannot be queued at this marketplace.' })
  })

  it.each(['get_pending_intents', 'mark_intent_executed', 'mark_intent_skipped'])(
    '%s says so in both steps, whatever else is wrong [MCP-76]',
    async (name) => {
      for (const more of [{}, { agent_sig: '0x12' }, { intent_id: 'x', reason: 'y', agent_sig: '0x12' }]) {
        expect(await mcp.call(name, { ...args(), ...more })).toMatchObject(
          failure('intent queue not enabled'),
        )
      }
    },
  )

  it('the routes of it are not there', async () => {
    const payload = { ref_link: 'https://market.test/r/abc', max_amount: 1, idempotency_key: 'x' }
    const body = { chain_id: m.chainId, agent_id: Number(agentId), type: 'buy_product', payload }
    const path = `/v1/intents/${'0'.repeat(32)}`
    for (const asked of [
      m.call('POST', '/v1/intents', { as: owner, body }),
      m.call('GET', `/v1/intents?agent_id=${agentId}`, { as: owner }),
      m.call('DELETE', path, { as: owner, body: naming('DELETE', path) }),
    ]) {
      expect(await asked).toMatchObject({ status: 404, body: { error: 'not found' } })
    }
  })
})
