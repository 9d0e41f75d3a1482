// Registration files at the URIs of agents and merchants: who reads them, when, and what is shown.
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openMerchant, registerIdentity } from '@referrer/contracts/local'
import type { Sql } from '@referrer/database'
import { Recovery, Registration } from '@referrer/protocol'
import { pino } from 'pino'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { countStatements } from '../../src/derived/listings/testing.ts'
import type { Chain, Context } from '../../src/kit/context.ts'
import { getAgent } from '../../src/market/agents/operations.ts'
import { getMerchant } from '../../src/market/merchants/operations.ts'
import { readDue, sweepRegistrations } from '../../src/market/registrations/schedule.ts'
import { queueMissing } from '../../src/market/registrations/store.ts'
import { call } from '../calls.ts'
import { must } from './caller.ts'
import { send } from './chain.ts'
import { NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { openRecorded, register } from './merchants.ts'

const HOUR = 3_600_000
/** Opened when whoever looks up silent.test may go on. */
let silence = Promise.withResolvers<void>()
const lookedUp: string[] = []
const lookup = async (host: string) => {
  lookedUp.push(host)
  if (host === 'silent.test') await silence.promise
  return [{ address: '127.0.0.1', family: 4 as const }]
}

let m: TestMarket
let server: Server
let port: number
let agentId: bigint
let asked: string[] = []
let answer: { status: number; body: string }
const clock = { now: Date.now() }

beforeAll(async () => {
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' }, overrides: { ...NO_WORK, lookup } })
  server = createServer((request, response) => {
    asked.push(`${request.headers.host?.split(':')[0]}${request.url}`)
    response.writeHead(answer.status).end(answer.body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
  // The first one is 0, which the route refuses.
  await registerIdentity(m.market, m.market.accounts.stranger)
  agentId = await newAgent('')
})
afterAll(async () => {
  server.close()
  await m.close()
})
beforeEach(() => {
  asked = []
  answer = { status: 200, body: fileOf('Meteo') }
})

const fileOf = (name: string, change: object = {}) =>
  JSON.stringify({
    type: Registration.TYPE,
    name,
    description: 'Asks for the weather',
    image: 'https://agent.test/a.png',
    services: [{ name: 'MCP', endpoint: 'https://agent.test/mcp', version: '1' }],
    active: true,
    x402Support: true,
    registrations: [
      { agentId: 1, agentRegistry: `eip155:${m.chainId}:${m.market.addresses.IdentityRegistry}` },
    ],
    ...change,
  })

const urlOf = (host: string, path = '/agent.json') => `http://${host}:${port}${path}`

async function newAgent(uri: string): Promise<bigint> {
  const { reviewer } = m.market.accounts
  const id = await registerIdentity(m.market, reviewer, uri)
  await m.indexed()
  await must(m.call('POST', '/v1/agent/register', { as: reviewer, body: { agent_id: Number(id) } }))
  return id
}

async function setUri(uri: string, id = agentId): Promise<void> {
  await send(m, call(m, m.market.accounts.reviewer, 'IdentityRegistry', 'setAgentURI', [id, uri]))
  await m.indexed()
}

const chain = () => ({ config: { chainId: m.chainId, contracts: m.market.addresses } }) as unknown as Chain

const contextWith = async (config: object = {}) =>
  ({
    sql: m.sql,
    clock: () => clock.now,
    chains: new Map([[m.chainId, chain()]]),
    config: { allowPrivateHosts: true, ...config } as never,
    lookup,
    log: pino({ enabled: false }),
    recovery: await Recovery.load(),
  }) as unknown as Context

/** One run of the schedule, `hours` after the one before. */
async function read(hours = 0.2, config: object = {}): Promise<void> {
  clock.now += hours * HOUR
  await readDue(await contextWith(config), new AbortController().signal)
}

const queued = (id: bigint) =>
  m.sql`SELECT FROM market.registrations WHERE chain_id = ${m.chainId} AND agent_id = ${id}`

const shown = async (id = agentId) => (await must(m.call('GET', `/v1/agent/${id}`))).registration

describe('a registration file', () => {
  it('at the URI of an agent is read and shown beside what the interface has', async () => {
    await setUri(urlOf('agent.test'))
    await read()
    expect(asked).toEqual(['agent.test/agent.json'])
    const agent = await must(m.call('GET', `/v1/agent/${agentId}`))
    expect(agent.agent_uri).toBe(urlOf('agent.test'))
    expect(agent.registration).toEqual({
      name: 'Meteo',
      description: 'Asks for the weather',
      image: 'https://agent.test/a.png',
      services: [{ name: 'MCP', endpoint: 'https://agent.test/mcp' }],
      active: true,
      x402_support: true,
      names_agent: true,
      read_at: expect.any(String),
    })
  })

  it('is read again in a week, and stays when it cannot be', async () => {
    await read(24)
    expect(asked).toEqual([])
    answer = { status: 200, body: fileOf('Anew') }
    await read(7 * 24)
    const { name, read_at } = await shown()
    expect(name).toBe('Anew')
    for (const body of ['<html>', '['.repeat(100), `{"a":"${'b'.repeat(70_000)}"}`]) {
      answer = { status: 200, body }
      await read(7 * 24)
      expect((await shown()).name).toBe('Anew')
    }
    answer = { status: 500, body: fileOf('Broken') }
    await read(7 * 24)
    expect(asked).toHaveLength(5)
    expect(await shown()).toMatchObject({ name: 'Anew', read_at })
  })

  it('of another URI is not shown any more, and the new one is read soon', async () => {
    await setUri(urlOf('other.test'))
    expect(await shown()).toBeUndefined()
    answer = { status: 200, body: fileOf('Other') }
    await read()
    expect(asked).toEqual(['other.test/agent.json'])
    expect((await shown()).name).toBe('Other')
    // Not more often than every ten minutes, however often the URI changes.
    await setUri(urlOf('third.test'))
    asked = []
    await read(0.01)
    await setUri(urlOf('fourth.test'))
    await read(0.01)
    expect(asked).toHaveLength(0)
    await read(1)
    expect(asked).toEqual(['fourth.test/agent.json'])
  })

  it('that cannot be read is not asked for more often because its URI is set again and again', async () => {
    const uri = urlOf('down.test')
    await setUri(uri)
    await read(1)
    answer.status = 500
    for (let times = 0; times < 3; times += 1) {
      await setUri(uri)
      await read(1)
      await setUri(uri)
      await read(0.01)
    }
    expect(asked).toHaveLength(4)
  })

  it('of a newcomer who had no URI is read at once', async () => {
    const id = await newAgent('')
    await read(0.01)
    await setUri(urlOf('young.test'), id)
    await read(0.01)
    expect(asked).toEqual(['young.test/agent.json'])
    // Without a URI in between it is not read more often.
    await setUri('', id)
    await read(0.01)
    await setUri(urlOf('young.test'), id)
    await read(0.01)
    expect(asked).toHaveLength(1)
    await setUri('', id)
  })

  it('of an agent that was queued before its block was indexed is read at once', async () => {
    const next = (await newAgent('')) + 1n
    await m.sql`INSERT INTO market.registrations (chain_id, agent_id) VALUES (${m.chainId}, ${next})`
    await read(1)
    expect(await newAgent(urlOf('late.test'))).toBe(next)
    asked = []
    await read(0.01)
    expect(asked).toEqual(['late.test/agent.json'])
    await setUri('', next)
  })

  it('in a URI that is too long is not read', async () => {
    await setUri(Registration.toDataUri(fileOf('Long', { description: 'd'.repeat(9_000) })))
    await read(1)
    expect(await shown()).toBeUndefined()
  })

  it('in the URI itself needs no host', async () => {
    await setUri(Registration.toDataUri(fileOf('Inside')))
    await read(1)
    expect((await shown()).name).toBe('Inside')
    expect(asked).toEqual([])
  })

  it('at ipfs:// is read through the gateway of the operator, and not at all without one', async () => {
    await setUri('ipfs://bafy/agent.json')
    await read(1)
    expect(await shown()).toBeUndefined()
    expect(asked).toEqual([])
    await read(8 * 24, { ipfsGatewayUrl: `http://gateway.test:${port}` })
    expect(asked).toEqual(['gateway.test/ipfs/bafy/agent.json'])
    expect((await shown()).name).toBe('Meteo')
  })

  it('in our own network, by plain http or of another scheme is not fetched', async () => {
    for (const uri of [urlOf('127.0.0.1'), 'file:///etc/passwd', 'ftp://agent.test/a']) {
      await setUri(uri)
      await read(8 * 24, { allowPrivateHosts: false })
    }
    await setUri(`https://inside.test:${port}/a`)
    await read(8 * 24, { allowPrivateHosts: false })
    expect(asked).toEqual([])
    expect(await shown()).toBeUndefined()
  })

  it('is asked for one at a time of each host', async () => {
    const others = [await newAgent(urlOf('crowd.test', '/1')), await newAgent(urlOf('crowd.test', '/2'))]
    await read(1)
    expect(asked).toHaveLength(1)
    await read(1)
    expect(asked.sort()).toEqual(['crowd.test/1', 'crowd.test/2'])
    for (const id of others) expect((await shown(id)).name).toBe('Meteo')
  })

  it('waits for no other at the gateway of the operator', async () => {
    await newAgent('ipfs://bafyone/a.json')
    await newAgent('ipfs://bafytwo/a.json')
    await read(1, { ipfsGatewayUrl: `http://gateway.test:${port}` })
    expect(asked.toSorted()).toEqual(['gateway.test/ipfs/bafyone/a.json', 'gateway.test/ipfs/bafytwo/a.json'])
  })

  it('waits for no crowd at another host', async () => {
    const crowd = Array.from({ length: 21 }, (_, at) => urlOf('platform.test', `/${at}`))
    for (const uri of crowd) await newAgent(uri)
    const other = await newAgent(urlOf('alone.test'))
    await read(1)
    expect(asked).toHaveLength(2)
    expect((await shown(other)).name).toBe('Meteo')
    // The others of the crowd follow, a minute after each other.
    for (let minutes = 1; minutes <= 20; minutes += 1) await read(1 / 60)
    expect(new Set(asked).size).toBe(22)
    expect(asked).toHaveLength(22)
  })

  it('in the URI itself takes no place of those that need a host', async () => {
    const inUri = (at: number) => `data:application/json,${encodeURIComponent(fileOf(`In the URI ${at}`))}`
    const agents: bigint[] = []
    for (let at = 0; at < 21; at += 1) agents.push(await newAgent(inUri(at)))
    const other = await newAgent(urlOf('beside.test'))
    await read(1)
    expect((await shown(other)).name).toBe('Meteo')
    expect((await shown(agents[20])).name).toBe('In the URI 20')
  })

  it('does not wait for the slowest host of a run', async () => {
    const slow = await newAgent(urlOf('silent.test'))
    const run = read(1)
    await expect.poll(() => lookedUp).toContain('silent.test')
    const other = await newAgent(urlOf('prompt.test'))
    await expect.poll(async () => (await shown(other))?.name, { timeout: 4_000 }).toBe('Meteo')
    expect(await shown(slow)).toBeUndefined()
    silence.resolve()
    silence = Promise.withResolvers<void>()
    await run
  })

  it('is cut to what is shown', async () => {
    const service = { name: 'web', endpoint: 'https://a.test' }
    await setUri(urlOf('long.test'))
    answer.body = fileOf('n'.repeat(500), {
      description: 'd'.repeat(3_000),
      image: 'javascript:alert(1)',
      services: Array(40).fill(service),
    })
    await read(1)
    const { name, description, image, services } = await shown()
    expect([name.length, description.length, image, services.length]).toEqual([100, 1_000, undefined, 10])
  })

  it('of a merchant is shown with the merchant by itself', async () => {
    const { merchant } = m.market.accounts
    const merchantId = await openRecorded(m)
    const uri = Registration.toDataUri(fileOf('Shop'))
    await send(m, call(m, merchant, 'IdentityRegistry', 'setAgentURI', [merchantId, uri]))
    await m.indexed()
    await read(1)
    const { registration } = await must(m.call('GET', `/v1/merchant/${merchantId}`))
    expect(registration).toMatchObject({ name: 'Shop', names_agent: false })
  })

  it('that cannot be stored does not stop the others', async () => {
    const [one, other] = [await newAgent(urlOf('one.test')), await newAgent(urlOf('other.test'))]
    await m.sql.unsafe(
      `ALTER TABLE market.registrations ADD CONSTRAINT refuses CHECK (agent_id <> ${one} OR file IS NULL)`,
    )
    await read(1)
    expect(asked).toEqual(expect.arrayContaining(['one.test/agent.json', 'other.test/agent.json']))
    expect((await shown(other)).name).toBe('Meteo')
    await m.sql`ALTER TABLE market.registrations DROP CONSTRAINT refuses`
    await read(1)
    expect((await shown(one)).name).toBe('Meteo')
  })

  it('takes no statement of its own', async () => {
    const merchantId = await openRecorded(m)
    await m.indexed()
    const context = await contextWith()
    const shownAgent = (sql: Sql) => getAgent({ ...context, sql }, chain(), agentId)
    // The agent; the number of its reviews and their products.
    expect(await countStatements(m.sql, shownAgent)).toBe(3)
    const shownMerchant = (sql: Sql) => getMerchant({ ...context, sql }, chain(), merchantId)
    // The merchant; its products.
    expect(await countStatements(m.sql, shownMerchant)).toBe(2)
  })
})

describe('the queue', () => {
  const AWAY = 'market.registrations'

  it('has an agent if and only if it is registered', async () => {
    const { reviewer: as } = m.market.accounts
    const id = await registerIdentity(m.market, as, urlOf('agent.test'))
    await m.indexed()
    const asks = () => m.call('POST', '/v1/agent/register', { as, body: { agent_id: Number(id) } })
    expect((await m.withoutTable(AWAY, asks)).status).toBeGreaterThanOrEqual(500)
    expect((await asks()).status).toBe(201)
    expect(await queued(id)).toHaveLength(1)
  })

  it('has a merchant if and only if it is registered', async () => {
    const { merchant } = m.market.accounts
    const id = await openMerchant(m.market, merchant)
    await m.indexed()
    const asks = () => register(m, merchant, id)
    expect((await m.withoutTable(AWAY, asks)).status).toBeGreaterThanOrEqual(500)
    expect((await asks()).status).toBe(201)
    expect(await queued(id)).toHaveLength(1)
  })

  it('gets within hours who is registered and not in it, such as by an earlier version, and nobody else', async () => {
    const before = await m.sql`SELECT agent_id FROM market.registrations ORDER BY agent_id`
    const stranger = await registerIdentity(m.market, m.market.accounts.stranger)
    await m.indexed()
    await m.sql`DELETE FROM market.registrations`
    const { run } = sweepRegistrations(await contextWith())
    await run({ signal: new AbortController().signal, sql: m.sql })
    expect(await m.sql`SELECT agent_id FROM market.registrations ORDER BY agent_id`).toEqual(before)
    expect(await queued(stranger)).toHaveLength(0)
    expect(before.length).toBeGreaterThan(6)
  })

  it('gets a few at a time, and all of them in as many turns as there are stretches', async () => {
    const before = await m.sql`SELECT agent_id FROM market.registrations ORDER BY agent_id`
    const [{ last }] = await m.sql<[{ last: bigint }]>`SELECT max(agent_id) AS last FROM market.agents`
    await m.sql`DELETE FROM market.registrations`
    const turns = Math.floor(Number(last) / 3) + 1
    for (let turn = 0; turn < turns; turn += 1) {
      expect(await queueMissing(m.sql, m.chainId, { turn: turn + 500_000, size: 3 })).toBeLessThanOrEqual(3)
    }
    expect(await m.sql`SELECT agent_id FROM market.registrations ORDER BY agent_id`).toEqual(before)
    expect(await queueMissing(m.sql, m.chainId + 1, { turn: 1, size: 3 })).toBe(0)
  })
})
