import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  deployMarket,
  type LocalChain,
  type Market,
  registerIdentity,
  startLocalChain,
} from '@referrer/contracts/local'
import { type KillablePostgres, processesOf, startKillablePostgres } from '@referrer/database/testing'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { chainsJson } from '../../src/doors/http/testing.ts'
import { until } from '../../src/machinery/workers/testing.ts'
import { BASE_URL, type Caller, callerOf, NAMING_US } from '../http/caller.ts'
import { startLoad } from './load.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

/** Longer time-outs, because a busy machine is slow. */
vi.setConfig({ testTimeout: 180_000 })

const CHAIN_ID = 31_361
const CYCLES = 3
/** The texts by which a route may report a failure of ours. */
const OUR_FAULT = ['internal error', 'upsert failed', 'get failed']
const owner = somebody()

let chain: LocalChain
let market: Market
let postgres: KillablePostgres
let service: ServiceProcess
let call: Caller

beforeAll(async () => {
  ;[chain, postgres] = await Promise.all([
    startLocalChain({ chainId: CHAIN_ID, port: 0 }),
    startKillablePostgres(),
  ])
  market = await deployMarket(chain.client)
  service = await startServiceProcess({
    DATABASE_URL: postgres.url,
    PUBLIC_URL: BASE_URL,
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    ANSWER_TIMEOUT_MS: '2000',
    CHAINS: JSON.stringify([
      {
        chainId: CHAIN_ID,
        rpcUrls: [chain.rpcUrl],
        contracts: market.addresses,
        startBlock: 0,
        pollIntervalMs: 50,
      },
    ]),
  })
  call = callerOf(service.url)
  await isReady()
})
afterAll(async () => {
  await service?.stop()
  await postgres?.remove()
  await chain?.close()
})

function somebody() {
  return privateKeyToAccount(generatePrivateKey())
}

const now = () => Math.floor(Date.now() / 1_000)

const isReady = () => until(async () => (await call('GET', '/readyz')).status === 200, 'readiness')
const isNotReady = () => until(async () => (await call('GET', '/readyz')).status === 503, 'unreadiness')

/** Starts all kinds of requests, and keeps the last acknowledged cap. */
async function startCallers() {
  const { body: session } = await call('POST', '/v1/auth/session', { as: owner, body: NAMING_US })
  const caps = { sent: 0, acknowledged: 0 }
  await setCap()
  const load = startLoad({
    'a list of reviews': () => call('GET', '/v1/review'),
    'a list of agents': () => call('GET', '/v1/agent'),
    'the means': () => call('GET', '/v1/stats/mean-rank'),
    'a signed read': () => call('GET', '/v1/review-rank/1', { as: owner, timestamp: now() }),
    'a signed write': setCap,
    'a new session': () => call('POST', '/v1/auth/session', { as: somebody(), body: NAMING_US }),
    'a read in a session': () =>
      call('GET', `/v1/spending-limits?chain_id=${CHAIN_ID}`, { token: session.token }),
  })
  async function setCap() {
    caps.sent += 1
    const cap = caps.sent
    const answer = await call('POST', '/v1/spending-limits', {
      as: owner,
      body: { chain_id: CHAIN_ID, per_tx_cap_usdc: cap },
    })
    if (answer.status === 200) caps.acknowledged = cap
    return answer
  }
  return { load, caps }
}

const storedCap = async () => {
  const { body } = await call('GET', `/v1/spending-limits?chain_id=${CHAIN_ID}`, {
    as: owner,
    timestamp: now(),
  })
  return body.per_tx_cap_usdc as number
}

/** Expects that a new agent on the chain is indexed. */
async function indexingGoesOn(): Promise<void> {
  const agentId = await registerIdentity(market, market.accounts.admin)
  await until(async () => {
    const { body } = await call('GET', '/v1/agent?limit=500')
    return body.agents?.some((agent: { agent_id: number }) => agent.agent_id === Number(agentId))
  }, 'the new agent in the records')
}

describe('a service whose Postgres', () => {
  test('is killed under load says so, loses nothing that it acknowledged, and serves again when it is back', async () => {
    const { load, caps } = await startCallers()
    try {
      await load.everyAnswer(200)
      for (let cycle = 0; cycle < CYCLES; cycle += 1) {
        await postgres.kill()
        load.nextPhase()
        await load.everyAnswer(500)
        expect(await call('GET', '/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
        await isNotReady()
        const { acknowledged } = caps

        await postgres.start()
        await load.everyAnswer(200)
        expect(await storedCap()).toBeGreaterThanOrEqual(acknowledged)
        await isReady()
        load.nextPhase()
        expect((await load.someMore()).filter(({ status }) => status !== 200)).toEqual([])
        await indexingGoesOn()
      }
    } finally {
      await load.stop()
    }
    expect(await storedCap()).toBe(caps.acknowledged)
    const failures = load.answers.filter(({ status }) => status !== 200)
    expect(failures.filter(({ status }) => status !== 500)).toEqual([])
    for (const { text } of failures) expect(OUR_FAULT).toContain(JSON.parse(text).error)
    expect(service.exitCode()).toBeNull()
  })

  test('does not answer lets its callers go with an error, and serves again when it does', async () => {
    const { load } = await startCallers()
    try {
      await load.everyAnswer(200)
      postgres.freeze()
      load.nextPhase()
      await load.everyAnswer(500)
      expect(await call('GET', '/healthz')).toMatchObject({ status: 200 })
      await isNotReady()

      postgres.thaw()
      await load.everyAnswer(200)
      await isReady()
      await indexingGoesOn()
    } finally {
      postgres.thaw()
      await load.stop()
    }
    const failures = load.answers.filter(({ status }) => status !== 200)
    expect(failures.filter(({ status }) => status !== 500)).toEqual([])
    for (const { text } of failures) expect(OUR_FAULT).toContain(JSON.parse(text).error)
  })

  test('came and went ends in order when it is told to, and has nothing to complain of', async () => {
    expect(await service.stop()).toEqual({ code: 0, complaints: '' })
  })
})

test('a service brings its own embedded Postgres back when that was killed', async () => {
  const directory = join(tmpdir(), `referrer-outage-${randomUUID()}`)
  const own = await startServiceProcess({
    DATABASE_URL: '',
    DATA_DIR: directory,
    CHAINS: chainsJson(CHAIN_ID),
  })
  try {
    const ask = callerOf(own.url)
    const isServing = async () => (await ask('GET', '/v1/review')).status === 200
    expect(await isServing()).toBe(true)
    for (const pid of processesOf(directory)) process.kill(pid, 'SIGKILL')
    await until(async () => !(await isServing()), 'the service to notice')
    await until(isServing, 'Postgres to be back')
  } finally {
    expect(await own.stop()).toEqual({ code: 0, complaints: '' })
    rmSync(directory, { recursive: true, force: true })
  }
})
