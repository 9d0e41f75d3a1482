import { enqueueTransaction, readTransaction } from '@referrer/chain'
import { type FaultProxy, startFaultProxy } from '@referrer/chain/testing'
import {
  deployMarket,
  type LocalChain,
  type Market,
  privateKeyOf,
  startLocalChain,
} from '@referrer/contracts/local'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { encodeFunctionData } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'
import { parseExposition } from './parse-exposition.ts'
import { type Service, startService } from './service.ts'

const CHAIN_IDS = [31_001, 31_002]

/** A service on two chains, each behind a node that can be made to fail. */
describe('a service that follows two chains', () => {
  let database: TestDatabase
  let service: Service
  let env: Record<string, string>
  const chains: { chainId: number; local: LocalChain; market: Market; proxy: FaultProxy }[] = []

  beforeAll(async () => {
    database = await freshDatabase()
    for (const chainId of CHAIN_IDS) {
      const local = await startLocalChain({ chainId, port: 0 })
      const market = await deployMarket(local.client)
      const proxy = await startFaultProxy({ target: local.rpcUrl ?? '', random: () => 0 })
      chains.push({ chainId, local, market, proxy })
    }
    env = {
      DATABASE_URL: database.url,
      PORT: '0',
      LOG_LEVEL: 'silent',
      EMBEDDER: 'off',
      MAX_LAG_SECONDS: '3',
      PUBLISHER_PRIVATE_KEY: privateKeyOf(chainAt(0).market.accounts.publisher),
      CHAINS: JSON.stringify(
        chains.map(({ chainId, market, proxy }) => ({
          chainId,
          rpcUrls: [proxy.url],
          contracts: market.addresses,
          startBlock: 0,
          confirmations: 1,
          pollIntervalMs: 50,
        })),
      ),
    }
    service = await startService(readConfig({ ...env, METRICS_PORT: '0', BUILD_COMMIT: '0123abc' }))
  })
  afterAll(async () => {
    await service?.stop()
    for (const { local, proxy } of chains) {
      await proxy.close()
      await local.close()
    }
    await database?.drop()
  })

  function chainAt(index: number) {
    const chain = chains[index]
    if (!chain) throw new Error(`there is no chain at ${index}`)
    return chain
  }

  const readinessOf = async ({ url }: Service) => {
    const response = await fetch(`${url}/readyz`)
    return { status: response.status, body: await response.json() }
  }
  const ready = () => readinessOf(service)

  it('serves metrics and its health on a port of their own, and no metrics on the public one', async () => {
    const { url, metricsUrl } = service
    const statusOf = async (target: string) => (await fetch(target)).status
    expect(await statusOf(`${metricsUrl}/healthz`)).toBe(200)
    expect([200, 503]).toContain(await statusOf(`${metricsUrl}/readyz`))
    expect(await statusOf(`${metricsUrl}/v1/reviews`)).toBe(404)
    expect(await statusOf(`${url}/healthz`)).toBe(200)
    const hidden = await fetch(`${url}/metrics`)
    expect([hidden.status, await hidden.json()]).toEqual([404, { error: 'not found' }])
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
    expect(Object.keys(document.paths)).toContain('/healthz')
    expect(Object.keys(document.paths)).not.toContain('/metrics')
  })

  it('tells the balances of our accounts, the nodes, the pool, the migrations and what is refused', async () => {
    await fetch(`${service.url}/mpp/charge`, { method: 'POST', body: '{}' })
    const { address } = chainAt(0).market.accounts.publisher
    const { config } = service.context
    const read = async () => parseExposition(await (await fetch(`${service.metricsUrl}/metrics`)).text())
    const account = `{chain="${CHAIN_IDS[0]}",account="${address}",role="publisher"}`
    await expect
      .poll(async () => (await read()).get(`referrer_account_balance_wei${account}`))
      .toBeGreaterThan(1e18)
    const metrics = await read()
    expect(metrics.get(`referrer_account_reserve_wei${account}`)).toBe(
      1e16 * (config.chains[0].maxFeePerGasGwei ?? 0),
    )
    const node = `{chain="${CHAIN_IDS[0]}",endpoint="${new URL(chainAt(0).proxy.url).host}"`
    expect(metrics.get(`referrer_rpc_calls_total${node},outcome="answered"}`)).toBeGreaterThan(0)
    // What changes from one moment to the next on a busy machine.
    await expect.poll(async () => (await read()).get(`referrer_rpc_endpoint_usable${node}}`)).toBe(1)
    await expect.poll(async () => (await read()).get('referrer_database_pool_waiting')).toBe(0)
    expect(metrics.get('referrer_database_pool_max')).toBe(20)
    expect(metrics.get('referrer_migrations_applied{set="chain-engine"}')).toBeGreaterThan(4)
    expect(metrics.get('referrer_refusals_total{door="http",kind="invalid input"}')).toBeGreaterThan(0)
    expect([...metrics.keys()].filter((name) => name.startsWith('referrer_build_info'))).toEqual([
      `referrer_build_info{version="0.1.0",commit="0123abc",node="${process.version}"}`,
    ])
  })

  it('is ready once it has read both, and says how far each is', async () => {
    await expect.poll(ready, { timeout: 40_000 }).toMatchObject({
      status: 200,
      body: {
        checks: { database: { ok: true }, 'chain 31001': { ok: true }, 'chain 31002': { ok: true } },
        workers: [
          { name: 'indexer 31001', state: 'running' },
          { name: 'sender 31001', state: 'running' },
          { name: 'indexer 31002', state: 'running' },
          { name: 'sender 31002', state: 'running' },
          { name: 'search', state: 'running' },
          { name: 'receipts', state: 'running' },
          { name: 'schedules', state: 'running' },
          { name: 'following 31001', state: 'running' },
          { name: 'following 31002', state: 'running' },
        ],
      },
    })
  })

  it('sends what was enqueued on a chain and records what came of it, on that chain only', async () => {
    const { market } = chainAt(1)
    const key = 'an identity of our own'
    await service.context.sql.begin((tx) =>
      enqueueTransaction(tx, {
        chainId: 31_002,
        from: market.accounts.publisher.address,
        to: market.addresses.IdentityRegistry,
        data: encodeFunctionData({ abi: identityRegistryAbi, functionName: 'register', args: ['ours'] }),
        key,
      }),
    )
    const state = async () => (await readTransaction(service.context.sql, { chainId: 31_002, key }))?.state
    await expect.poll(state, { timeout: 40_000 }).toBe('confirmed')
    const identities = () => service.context.sql`SELECT chain_id, uri FROM chain.identities`
    await expect.poll(identities, { timeout: 40_000 }).toEqual([{ chain_id: 31_002n, uri: 'ours' }])
  })

  it('stops being ready when a chain cannot be read for too long, and recovers by itself', async () => {
    chainAt(0).proxy.setFaults({ reset: 1 })
    await expect.poll(ready, { timeout: 40_000 }).toMatchObject({
      status: 503,
      body: { checks: { 'chain 31001': { ok: false }, 'chain 31002': { ok: true } } },
    })
    chainAt(0).proxy.setFaults({})
    await expect.poll(ready, { timeout: 40_000 }).toMatchObject({ status: 200 })
  })

  const workersOf = async (one: Service) =>
    (await readinessOf(one)).body.workers.map(({ name }: { name: string }) => name)

  it.each([
    ['api', ['search'], 200],
    ['indexer', ['indexer 31001', 'indexer 31002'], 404],
    [
      'workers,facilitator',
      ['sender 31001', 'sender 31002', 'receipts', 'schedules', 'following 31001', 'following 31002'],
      404,
    ],
  ])('in the role %s does only that, and tells how it is', async (ROLES, workers, status) => {
    const one = await startService(readConfig({ ...env, ROLES }))
    try {
      expect(await workersOf(one)).toEqual(workers)
      await expect.poll(() => readinessOf(one), { timeout: 40_000 }).toMatchObject({ status: 200 })
      for (const path of ['/healthz', '/metrics']) expect((await fetch(one.url + path)).status).toBe(200)
      for (const path of ['/v1/stats', '/openapi.json', '/.well-known/referrer-agent']) {
        expect([path, (await fetch(one.url + path)).status]).toEqual([path, status])
      }
    } finally {
      await one.stop()
    }
  })

  describe('in the role api, while the records are current', () => {
    let api: Service
    let lies: Record<string, unknown> = {}
    beforeAll(async () => {
      const chains = JSON.parse(env.CHAINS ?? '').map((chain: object) => ({
        ...chain,
        maxHeadAgeSeconds: 3_600,
      }))
      const lying: typeof fetch = async (input, init) => {
        const { id, method } = JSON.parse(String(init?.body))
        return method in lies
          ? Response.json({ jsonrpc: '2.0', id, result: lies[method] })
          : fetch(input, init)
      }
      const config = readConfig({ ...env, ROLES: 'api', CHAINS: JSON.stringify(chains) })
      api = await startService(config, { fetch: lying })
    })
    afterAll(() => api?.stop())

    it.each([
      ['have no contract where the configuration says', { eth_getCode: '0x' }, 'has no contract at 0x'],
      ['serve another chain', { eth_chainId: '0x1' }, 'serves chain 1, not 31001: correct its URL'],
      ['stand still', { eth_getBlockByNumber: { timestamp: '0x1' } }, 'the newest block of its nodes is'],
    ])('is not ready while its nodes %s', async (_, told, detail) => {
      lies = told
      await expect
        .poll(() => readinessOf(api), { timeout: 40_000 })
        .toMatchObject({
          status: 503,
          body: { checks: { 'chain 31001': { ok: false, detail: expect.stringContaining(detail) } } },
        })
      lies = {}
      await expect.poll(() => readinessOf(api), { timeout: 40_000 }).toMatchObject({ status: 200 })
    })
  })
})
