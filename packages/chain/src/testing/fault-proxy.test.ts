import { developmentAccount, type LocalChain, startLocalChain } from '@referrer/contracts/local'
import { type Hex, hexToNumber, keccak256, parseGwei } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type FaultName, type FaultProxy, startFaultProxy } from './fault-proxy.ts'
import { int, pick, seeded, seedOf } from './random.ts'

const sender = developmentAccount(0)
let local: LocalChain
let proxy: FaultProxy

beforeAll(async () => {
  local = await startLocalChain({ chainId: 31_400, port: 0 })
  await local.client.mine({ blocks: 30 })
  if (!local.rpcUrl) throw new Error('the chain has no URL')
  proxy = await startFaultProxy({ target: local.rpcUrl, random: seeded(1) })
})
afterEach(() => proxy.setFaults({}))
afterAll(async () => {
  await proxy.close()
  await local.close()
})

async function post(body: unknown, signal?: AbortSignal): Promise<Response> {
  return fetch(proxy.url, { method: 'POST', body: JSON.stringify(body), signal: signal ?? null })
}

async function call(method: string, ...params: unknown[]) {
  const response = await post({ jsonrpc: '2.0', id: 7, method, params })
  return (await response.json()) as { id: number; result?: unknown; error?: { code: number } }
}

const always = (fault: FaultName) => proxy.setFaults({ [fault]: 1 })
const head = async () => Number(await local.client.getBlockNumber())

async function signed(): Promise<Hex> {
  const nonce = await local.client.getTransactionCount({ address: sender.address })
  return sender.signTransaction({
    chainId: 31_400,
    type: 'eip1559',
    nonce,
    to: sender.address,
    gas: 21_000n,
    maxFeePerGas: parseGwei('10'),
    maxPriorityFeePerGas: 1n,
  })
}

describe('an honest proxy', () => {
  it('passes single calls and batches on and counts no fault', async () => {
    expect(await call('eth_chainId')).toEqual({ jsonrpc: '2.0', id: 7, result: '0x7aa8' })
    const batch = ['eth_chainId', 'eth_blockNumber'].map((method, id) => ({
      jsonrpc: '2.0',
      id,
      method,
      params: [],
    }))
    const answers = (await (await post(batch)).json()) as { id: number; result: Hex }[]
    expect(answers.map(({ id, result }) => [id, hexToNumber(result)])).toEqual([
      [0, 31_400],
      [1, await head()],
    ])
    expect(Object.values(proxy.counts).every((count) => count === 0)).toBe(true)
  })
})

describe('faults of the line', () => {
  it('hangs until the client gives up', async () => {
    always('hang')
    const body = { jsonrpc: '2.0', id: 1, method: 'eth_chainId' }
    const client = new AbortController()
    const posted = post(body, client.signal)
    await expect.poll(() => proxy.counts.hang).toBe(1)
    client.abort(new Error('nobody waits any more'))
    await expect(posted).rejects.toThrow('nobody waits any more')
  })

  it('destroys the socket before the node hears of it', async () => {
    always('reset')
    const before = await head()
    await expect(call('eth_sendRawTransaction', await signed())).rejects.toThrow('fetch failed')
    expect(await head()).toBe(before)
  })

  it('loses the answer to what the node did', async () => {
    always('loseAnswer')
    const before = await head()
    await expect(call('eth_sendRawTransaction', await signed())).rejects.toThrow('fetch failed')
    expect(await head()).toBe(before + 1)
  })

  it('answers with HTTP 500', async () => {
    always('http500')
    expect((await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })).status).toBe(500)
  })

  it('breaks JSON off', async () => {
    always('garbage')
    await expect(call('eth_blockNumber')).rejects.toThrow(SyntaxError)
  })

  it('limits the rate in both of the ways that nodes do', async () => {
    always('rateLimit')
    const seen = new Set<number>()
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const response = await post({ jsonrpc: '2.0', id: 1, method: 'eth_chainId' })
      const code =
        response.status === 200 ? ((await response.json()) as { error: { code: number } }).error.code : 0
      seen.add(code === 0 ? response.status : code)
    }
    expect([...seen].sort()).toEqual([-32005, 429])
  })

  it('answers late but rightly', async () => {
    always('delay')
    expect((await call('eth_chainId')).result).toBe('0x7aa8')
    expect(proxy.counts.delay).toBe(1)
  })
})

describe('faults of the node', () => {
  it('lags: block, count, receipt and logs are as they were some blocks ago', async () => {
    const hash = await local.client.sendRawTransaction({ serializedTransaction: await signed() })
    const count = await local.client.getTransactionCount({ address: sender.address })
    const truth = await head()
    always('lag')
    const block = (await call('eth_getBlockByNumber', 'latest', false)).result as { number: Hex }
    expect(hexToNumber(block.number)).toBeLessThan(truth)
    expect((await call('eth_getBlockByNumber', `0x${truth.toString(16)}`, false)).result).toBeNull()
    expect((await call('eth_getTransactionReceipt', hash)).result).toBeNull()
    const seen = (await call('eth_getTransactionCount', sender.address, 'latest')).result as Hex
    expect(hexToNumber(seen)).toBeLessThan(count)
    expect((await call('eth_getLogs', { fromBlock: `0x${truth.toString(16)}` })).result).toEqual([])
  })

  it('lies about the latest block, with a hash that nobody knows', async () => {
    const truth = await head()
    always('lieAboutLatest')
    expect(hexToNumber((await call('eth_blockNumber')).result as Hex)).toBeGreaterThanOrEqual(truth + 5)
    const block = (await call('eth_getBlockByNumber', 'latest', false)).result as { number: Hex; hash: Hex }
    expect(hexToNumber(block.number)).toBeGreaterThanOrEqual(truth + 5)
    expect((await call('eth_getBlockByHash', block.hash, false)).result).toBeNull()
  })

  it('refuses logs of long ranges only', async () => {
    always('rangeTooLarge')
    expect((await call('eth_getLogs', { fromBlock: '0x1', toBlock: '0x4' })).result).toEqual([])
    expect((await call('eth_getLogs', { fromBlock: '0x1', toBlock: 'latest' })).error?.code).toBe(-32602)
  })

  it('cuts logs off after the hundredth and does not say so', async () => {
    // PUSH1 120; then a loop that emits an empty log until the counter is zero.
    const code = '0x60785b60006000a0600190038060025700'
    await local.client.setCode({ address: '0x00000000000000000000000000000000000000aa', bytecode: code })
    await local.client.sendTransaction({ account: sender, to: '0x00000000000000000000000000000000000000aa' })
    const filter = { fromBlock: 'latest' }
    expect((await call('eth_getLogs', filter)).result).toHaveLength(120)
    always('truncateLogs')
    expect((await call('eth_getLogs', filter)).result).toHaveLength(100)
  })

  it('takes a transaction, gives its hash and forgets it', async () => {
    always('dropTransaction')
    const before = await head()
    const raw = await signed()
    expect((await call('eth_sendRawTransaction', raw)).result).toBe(keccak256(raw))
    expect(await head()).toBe(before)
  })
})

describe('a seed', () => {
  it('gives the same numbers again, and others for another seed', () => {
    const third = seeded(9)
    const draw = (seed: number) => Array.from({ length: 5 }, seeded(seed))
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
    expect(new Set(Array.from({ length: 200 }, () => int(third, 1, 3)))).toEqual(new Set([1, 2, 3]))
    expect(() => pick(seeded(1), [])).toThrow('at least one')
  })

  it('comes from the environment when it is set there', () => {
    expect(seedOf({ SEED: '42' })).toBe(42)
    expect(() => seedOf({ SEED: 'x' })).toThrow('whole number')
  })
})
