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
import { type Service, startService } from './service.ts'

const CHAIN_IDS = [31_001, 31_002]

/** A service on two chains, each behind a node that can be made to fail. */
describe('a service that follows two chains', () => {
  let database: TestDatabase
  let service: Service
  const chains: { chainId: number; local: LocalChain; market: Market; proxy: FaultProxy }[] = []

  beforeAll(async () => {
    database = await freshDatabase()
    for (const chainId of CHAIN_IDS) {
      const local = await startLocalChain({ chainId, port: 0 })
      const market = await deployMarket(local.client)
      const proxy = await startFaultProxy({ target: local.rpcUrl ?? '', random: () => 0 })
      chains.push({ chainId, local, market, proxy })
    }
    service = await startService(
      readConfig({
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
      }),
    )
  })
  afterAll(async () => {
    await service.stop()
    for (const { local, proxy } of chains) {
      await proxy.close()
      await local.close()
    }
    await database.drop()
  })

  function chainAt(index: number) {
    const chain = chains[index]
    if (!chain) throw new Error(`there is no chain at ${index}`)
    return chain
  }

  const ready = async () => {
    const response = await fetch(`${service.url}/readyz`)
    return { status: response.status, body: await response.json() }
  }

  it('is ready once it has read both, and says how far each is', async () => {
    await expect.poll(ready, { timeout: 15_000 }).toMatchObject({
      status: 200,
      body: {
        checks: { database: { ok: true }, 'chain 31001': { ok: true }, 'chain 31002': { ok: true } },
        workers: [
          { name: 'indexer 31001', state: 'running' },
          { name: 'sender 31001', state: 'running' },
          { name: 'indexer 31002', state: 'running' },
          { name: 'sender 31002', state: 'running' },
          { name: 'search', state: 'running' },
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
    await expect.poll(state, { timeout: 15_000 }).toBe('confirmed')
    const identities = () => service.context.sql`SELECT chain_id, uri FROM chain.identities`
    await expect.poll(identities, { timeout: 15_000 }).toEqual([{ chain_id: 31_002n, uri: 'ours' }])
  })

  it('stops being ready when a chain cannot be read for too long, and recovers by itself', async () => {
    chainAt(0).proxy.setFaults({ reset: 1 })
    await expect.poll(ready, { timeout: 15_000 }).toMatchObject({
      status: 503,
      body: { checks: { 'chain 31001': { ok: false }, 'chain 31002': { ok: true } } },
    })
    chainAt(0).proxy.setFaults({})
    await expect.poll(ready, { timeout: 15_000 }).toMatchObject({ status: 200 })
  })
})
