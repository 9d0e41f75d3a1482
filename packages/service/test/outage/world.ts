// A service as a process of its own over a Postgres that a test kills, and its callers.
import {
  deployMarket,
  type LocalChain,
  type Market,
  registerIdentity,
  startLocalChain,
} from '@referrer/contracts/local'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { BASE_URL, type Caller, callerOf, must, NAMING_US } from '../http/caller.ts'
import { type Load, startLoad } from './load.ts'
import { type ServiceProcess, startServiceProcess } from './service-process.ts'

/** The texts by which a route may report a failure of ours. */
const OUR_FAULT = ['internal error', 'upsert failed', 'get failed']

export interface World {
  chain: LocalChain
  market: Market
  service: ServiceProcess
  call: Caller
  /** Another service over the same chain. */
  startAnother(env?: Record<string, string>): Promise<ServiceProcess>
  isReady(): Promise<unknown>
  isNotReady(): Promise<unknown>
  /** Starts all kinds of requests, and keeps the last acknowledged cap. */
  startCallers(): Promise<{ load: Load; caps: { sent: number; acknowledged: number } }>
  storedCap(): Promise<number>
  /** Expects that a new agent on the chain is indexed. */
  indexingGoesOn(): Promise<void>
  close(): Promise<void>
}

export function somebody() {
  return privateKeyToAccount(generatePrivateKey())
}

const now = () => Math.floor(Date.now() / 1_000)

export async function startWorld(chainId: number, env: Record<string, string>): Promise<World> {
  const owner = somebody()
  const chain = await startLocalChain({ chainId, port: 0 })
  const market = await deployMarket(chain.client)
  const startAnother = (more: Record<string, string> = {}) =>
    startServiceProcess({
      PUBLIC_URL: BASE_URL,
      RATE_LIMIT_PER_SECOND: '100000',
      RATE_LIMIT_BURST: '100000',
      ANSWER_TIMEOUT_MS: '15000',
      CHAINS: JSON.stringify([
        {
          chainId,
          rpcUrls: [chain.rpcUrl],
          contracts: market.addresses,
          startBlock: 0,
          pollIntervalMs: 50,
        },
      ]),
      ...env,
      ...more,
    })
  const service = await startAnother()
  const call = callerOf(service.url)
  const isReady = () => until(async () => (await call('GET', '/readyz')).status === 200, 'readiness')
  await isReady()

  return {
    chain,
    market,
    service,
    call,
    startAnother,
    isReady,
    isNotReady: () => until(async () => (await call('GET', '/readyz')).status === 503, 'unreadiness'),
    async startCallers() {
      const session = await must(call('POST', '/v1/auth/session', { as: owner, body: NAMING_US }))
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
          call('GET', `/v1/spending-limits?chain_id=${chainId}`, { token: session.token }),
      })
      async function setCap() {
        caps.sent += 1
        const cap = caps.sent
        const answer = await call('POST', '/v1/spending-limits', {
          as: owner,
          body: { chain_id: chainId, per_tx_cap_usdc: cap },
        })
        if (answer.status === 200) caps.acknowledged = cap
        return answer
      }
      return { load, caps }
    },
    async storedCap() {
      const { body } = await call('GET', `/v1/spending-limits?chain_id=${chainId}`, {
        as: owner,
        timestamp: now(),
      })
      return body.per_tx_cap_usdc as number
    },
    async indexingGoesOn() {
      const agentId = await registerIdentity(market, market.accounts.admin)
      await until(async () => {
        const { body } = await call('GET', '/v1/agent?limit=500')
        return body.agents?.some((agent: { agent_id: number }) => agent.agent_id === Number(agentId))
      }, 'the new agent in the records')
    },
    async close() {
      await service.stop()
      await chain.close()
    },
  }
}

/** Every request was answered; those that failed say that it was our fault. */
export function expectHonest({ answers }: Load): void {
  const failures = answers.filter(({ status }) => status !== 200)
  expect(failures.filter(({ status }) => status !== 500)).toEqual([])
  for (const { text } of failures) expect(OUR_FAULT).toContain(JSON.parse(text).error)
}
