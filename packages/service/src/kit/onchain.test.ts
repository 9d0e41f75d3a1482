import { createServer } from 'node:http'
import { createRpcPool, RpcError, readContract } from '@referrer/chain'
import {
  deployMarket,
  type LocalChain,
  type Market,
  registerIdentity,
  startLocalChain,
} from '@referrer/contracts/local'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Chain, Context } from './context.ts'
import { bestEffort, ownerOf, reread } from './onchain.ts'

let local: LocalChain
let market: Market
let chain: Chain
let isDown = false
/** `reread` uses the context only as the key of its counter. */
const context = {} as Context

beforeAll(async () => {
  local = await startLocalChain({ port: 0 })
  market = await deployMarket(local.client)
  chain = {
    config: { contracts: market.addresses },
    rpc: createRpcPool({
      chainId: local.chain.id,
      urls: [local.rpcUrl ?? ''],
      fetch: (input, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init)),
    }),
    attestation: undefined,
  } as unknown as Chain
})
afterAll(() => local.close())
afterEach(() => {
  isDown = false
  vi.useRealTimers()
})

describe('a read of a contract', () => {
  it('tells the owner of an identity, 0 too', async () => {
    const { reviewer, buyer } = market.accounts
    const first = await registerIdentity(market, reviewer)
    const second = await registerIdentity(market, buyer)
    expect(first).toBe(0n)
    expect(await ownerOf(chain, first)).toBe(reviewer.address)
    expect(await ownerOf(chain, second)).toBe(buyer.address)
  })

  it('tells that there is no such identity', async () => {
    expect(await ownerOf(chain, 999n)).toBeUndefined()
  })

  it('does not take a node that fails for an identity that is not there', async () => {
    isDown = true
    await expect(ownerOf(chain, 0n)).rejects.toThrow(RpcError)
  })

  it('does not take an address without a contract for an identity that is not there', async () => {
    const { treasury } = market.accounts
    const nowhere = {
      ...chain,
      config: { contracts: { IdentityRegistry: treasury.address } },
    } as unknown as Chain
    await expect(ownerOf(nowhere, 0n)).rejects.toThrow()
  })

  it('gives up when its time is over', async () => {
    const silent = createServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    const rpc = createRpcPool({ chainId: local.chain.id, urls: [`http://127.0.0.1:${port}`] })
    const read = readContract(
      { rpc },
      {
        address: market.addresses.IdentityRegistry,
        abi: identityRegistryAbi,
        functionName: 'ownerOf',
        args: [0n],
      },
      { timeoutMs: 50 },
    )
    await expect(read).rejects.toThrow(RpcError)
    silent.closeAllConnections()
    silent.close()
  })
})

describe('best effort', () => {
  it('is what was read, or nothing when that fails', async () => {
    expect(await bestEffort({}, async () => 5)).toBe(5)
    expect(await bestEffort({}, () => Promise.reject(new Error('no')))).toBeUndefined()
    expect(
      await bestEffort({}, () => {
        throw new Error('at once')
      }),
    ).toBeUndefined()
  })

  it('is nothing after a second of silence, and says so to the read', async () => {
    vi.useFakeTimers()
    let asked = 0
    const answer = bestEffort({}, ({ timeoutMs }) => {
      asked = timeoutMs
      return new Promise(() => {})
    })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await answer).toBeUndefined()
    expect(asked).toBe(1_000)
  })

  it('waits as long as the chain says', async () => {
    vi.useFakeTimers()
    const answer = bestEffort(
      { optionalReadMs: 5_000 },
      ({ timeoutMs }) => new Promise<number>((resolve) => setTimeout(resolve, 4_000, timeoutMs)),
    )
    await vi.advanceTimersByTimeAsync(4_000)
    expect(await answer).toBe(5_000)
  })
})

describe('reading again', () => {
  it('ends as soon as what is read holds', async () => {
    let reads = 0
    const value = await reread(
      context,
      async () => ++reads,
      (number) => number >= 1,
    )
    expect(value).toBe(1)
  })

  it('reads until it holds', async () => {
    vi.useFakeTimers()
    let reads = 0
    const read = reread(
      context,
      async () => ++reads,
      (number) => number === 3,
    )
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await read).toBe(3)
    expect(reads).toBe(3)
  })

  it('believes what it reads when it has not held for three seconds', async () => {
    vi.useFakeTimers()
    let reads = 0
    const read = reread(
      context,
      async () => ++reads,
      () => false,
    )
    await vi.advanceTimersByTimeAsync(2_900)
    const soFar = reads
    await vi.advanceTimersByTimeAsync(400)
    expect(await read).toBe(soFar + 1)
    expect(reads).toBe(soFar + 1)
  })

  it('is done once by a call that comes while too many are reading again, and repeated when they are through', async () => {
    vi.useFakeTimers()
    let reads = 0
    const start = () =>
      reread(
        context,
        async () => ++reads,
        () => false,
      )
    const many = Array.from({ length: 32 }, start)
    await vi.advanceTimersByTimeAsync(1_000)
    const soFar = reads
    expect(await start()).toBe(soFar + 1)
    await vi.advanceTimersByTimeAsync(2_400)
    await Promise.all(many)
    reads = 0
    const one = start()
    await vi.advanceTimersByTimeAsync(3_400)
    expect(await one).toBeGreaterThan(10)
  })

  it('does not go on after a failure', async () => {
    let reads = 0
    const read = reread(
      context,
      () => {
        reads += 1
        return Promise.reject(new Error('the node fails'))
      },
      () => false,
    )
    await expect(read).rejects.toThrow('the node fails')
    expect(reads).toBe(1)
  })
})
