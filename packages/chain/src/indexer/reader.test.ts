import { type Address, type Hex, hexToNumber, keccak256, numberToHex, toHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRpcPool, RpcError, type RpcPool } from '../rpc/index.ts'
import { eventually } from '../testing/eventually.ts'
import { type ScriptedBlock, ScriptedChain, type ScriptedLog } from '../testing/scripted-chain.ts'
import { type Answer, type Call, type ScriptedNode, startScriptedNode } from '../testing/scripted-node.ts'
import { type ChainReader, createReader } from './reader.ts'
import type { Block, Checkpoint } from './types.ts'

const CHAIN = 31_338
const contract: Address = '0x00000000000000000000000000000000000000c1'
const event = keccak256(toHex('Happened(uint256)'))
const log = (value: number): ScriptedLog => ({
  address: contract,
  topics: [event],
  data: numberToHex(value, { size: 32 }),
})

let chain: ScriptedChain
let first: ScriptedNode
let second: ScriptedNode
let rpc: RpcPool
let reader: ChainReader
let leaving: AbortController

beforeEach(async () => {
  chain = new ScriptedChain(CHAIN)
  first = await startScriptedNode((call) => chain.answer(call))
  second = await startScriptedNode((call) => chain.answer(call))
  leaving = new AbortController()
  use(first, second)
})
afterEach(() => Promise.all([first, second].map((node) => node.close())))

function use(...nodes: ScriptedNode[]): void {
  useWithin(10_000, ...nodes)
}
function useWithin(timeoutMs: number, ...nodes: ScriptedNode[]): void {
  const urls = nodes.map(({ url }) => url)
  rpc = createRpcPool({ chainId: CHAIN, urls, timeoutMs, now: () => 0 })
  reader = createReader(rpc, { addresses: [contract], events: [event] }, leaving.signal)
}

const nameOf = (node: ScriptedNode) => new URL(node.url).host
const preferred = () => rpc.ranked()[0]?.name
const endpointOf = (node: ScriptedNode) => {
  const found = rpc.endpoints.find(({ name }) => name === nameOf(node))
  if (!found) throw new Error('the node is not in the pool')
  return found
}
const values = (logs: { data: Hex }[]) => logs.map(({ data }) => hexToNumber(data))
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)
const asked = (node: ScriptedNode, method: string) =>
  node.requests.flat().filter((call) => call.method === method)
const checkpoint = ({ number, hash, timestamp }: ScriptedBlock): Checkpoint => ({
  number: BigInt(number),
  hash,
  timestamp: BigInt(timestamp),
  final: 0n,
})
const read = ({ logs, ...block }: ScriptedBlock): Block => ({
  ...block,
  number: BigInt(block.number),
  timestamp: BigInt(block.timestamp),
})

interface RangeFilter {
  fromBlock: Hex
  toBlock: Hex
}
/** The chain as a node tells it that handles logs in a way of its own. */
const withLogs = (answer: (filter: RangeFilter, honest: Answer) => Answer) => (call: Call) => {
  const honest = chain.answer(call)
  return call.method === 'eth_getLogs' ? answer(call.params?.[0] as RangeFilter, honest) : honest
}
const width = ({ fromBlock, toBlock }: RangeFilter) => hexToNumber(toBlock) - hexToNumber(fromBlock) + 1

describe('the head', () => {
  it('is the highest that a node names', async () => {
    chain.mineMany(5)
    const behind = chain.fork(3)
    first.answer = (call) => behind.answer(call)
    const head = await reader.head(undefined)
    expect(head.block.number).toBe(5n)
    expect(head.endpoint).toBe(endpointOf(second))
    expect(rpc.awake()).toHaveLength(2)
  })

  it('is read from the first node when both have it', async () => {
    chain.mineMany(5)
    expect((await reader.head(undefined)).endpoint).toBe(endpointOf(first))
  })

  it('needs no proof when it follows the block that is known', async () => {
    chain.mineMany(3)
    const known = checkpoint(chain.head)
    const { hash } = chain.mine()
    expect((await reader.head(known)).block.hash).toBe(hash)
    expect([first, second].flatMap((node) => asked(node, 'eth_getBlockByHash'))).toEqual([])
  })

  it.each([
    ['invents a block', (honest: ScriptedBlock) => ({ ...honest, number: '0x64', hash: keccak256('0x01') })],
    ['numbers a block higher than it is', (honest: ScriptedBlock) => ({ ...honest, number: '0x64' })],
    [
      'hangs a block onto a parent that it does not have',
      (honest: ScriptedBlock) => ({ ...honest, parentHash: keccak256('0x02') }),
    ],
  ])('is not believed when a node %s', async (_what, lie) => {
    chain.mineMany(5)
    first.answer = (call) =>
      call.params?.[0] === 'latest' ? { result: lie(chain.head) } : chain.answer(call)
    const head = await reader.head(undefined)
    expect(head.block).toEqual(read(chain.head))
    expect(head.endpoint).toBe(endpointOf(second))
    expect(preferred()).toBe(nameOf(second))
  })

  it('may be the very first block', async () => {
    expect((await reader.head(undefined)).block.number).toBe(0n)
  })

  it('is an error when nobody can prove one', async () => {
    use(first)
    first.answer = (call) =>
      call.params?.[0] === 'latest' ? { result: { ...chain.head, number: '0x64' } } : chain.answer(call)
    await expect(reader.head(undefined)).rejects.toThrow('no node could prove the newest block it named')
  })

  it('is an error when nobody answers', async () => {
    first.respond = second.respond = () => ({ status: 502, body: '' })
    await expect(reader.head(undefined)).rejects.toThrow(RpcError)
  })
})

describe('consecutive blocks', () => {
  it('come in order', async () => {
    chain.mineMany(5)
    const blocks = await reader.blocks(endpointOf(first), 2n, 5n)
    expect(blocks).toEqual(chain.blocks.slice(2).map(read))
  })

  it('end where the chain changed while they were read', async () => {
    chain.mineMany(5)
    const fork = chain.fork(1)
    fork.mineMany(4)
    first.answer = (call) => (Number(call.params?.[0]) >= 4 ? fork : chain).answer(call)
    const blocks = await reader.blocks(endpointOf(first), 1n, 5n)
    expect(blocks.map(({ number }) => number)).toEqual([1n, 2n, 3n])
  })

  it('end where the node does', async () => {
    chain.mineMany(3)
    expect(await reader.blocks(endpointOf(first), 2n, 9n)).toHaveLength(2)
  })

  it('are not believed when the first is missing', async () => {
    chain.mineMany(3)
    await expect(reader.blocks(endpointOf(first), 4n, 6n)).rejects.toThrow('does not have block 4')
    expect(preferred()).toBe(nameOf(second))
  })
})

describe('the logs of blocks', () => {
  beforeEach(() => {
    chain.mine(log(0), log(1))
    chain.mine()
    chain.mine(log(2))
  })
  const all = () => chain.blocks.map(read)

  it('are asked for only where the bloom filter promises some', async () => {
    const logs = await reader.logsOf(endpointOf(first), all())
    expect(values(logs)).toEqual([0, 1, 2])
    expect(asked(first, 'eth_getLogs').map(({ params }) => params?.[0])).toEqual(
      [1, 3].map((at) => expect.objectContaining({ blockHash: chain.blocks[at]?.hash })),
    )
  })

  it('have the time of their block, whatever the node says', async () => {
    chain.logsHaveTimes = false
    const logs = await reader.logsOf(endpointOf(first), all())
    expect(logs.map(({ timestamp }) => timestamp)).toEqual(
      [1, 1, 3].map((at) => BigInt(chain.blocks[at]?.timestamp ?? 0)),
    )
  })

  it('are asked for elsewhere when a node leaves out what the bloom filter promises', async () => {
    first.answer = withLogs((filter, honest) =>
      'blockHash' in filter && filter.blockHash === chain.head.hash ? { result: [] } : honest,
    )
    expect(values(await reader.logsOf(endpointOf(first), all()))).toEqual([0, 1, 2])
    expect(asked(second, 'eth_getLogs')).toHaveLength(1)
  })

  it('are asked for again of the only node there is', async () => {
    use(first)
    let answers = 0
    first.answer = withLogs((_filter, honest) => (++answers <= 2 ? { result: [] } : honest))
    expect(values(await reader.logsOf(endpointOf(first), all()))).toEqual([0, 1, 2])
  })

  it('are those that either of two nodes has when one may have cut its answer short', async () => {
    chain.mine(...upTo(137).map(log))
    const cut = withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, 100) }))
    first.answer = cut
    expect(values(await reader.logsOf(endpointOf(first), [read(chain.head)]))).toEqual(upTo(137))
    first.answer = (call) => chain.answer(call)
    second.answer = cut
    expect(values(await reader.logsOf(endpointOf(second), [read(chain.head)]))).toEqual(upTo(137))
  })

  it('may be none, when two nodes say so', async () => {
    first.answer = second.answer = withLogs(() => ({ result: [] }))
    expect(await reader.logsOf(endpointOf(first), all())).toEqual([])
  })

  it('are refused when they are of another block', async () => {
    const fork = chain.fork(2)
    fork.mine(log(9))
    first.answer = withLogs(() =>
      fork.answer({
        method: 'eth_getLogs',
        params: [{ address: [contract], topics: [[event]], blockHash: fork.head.hash }],
      }),
    )
    await expect(reader.logsOf(endpointOf(first), [read(chain.head)])).rejects.toThrow(
      'a log of another block',
    )
  })
})

describe('the logs of a range', () => {
  it('come in order, with the blocks at its ends', async () => {
    for (const value of upTo(7)) chain.mine(log(value))
    const range = await reader.range(2n, 5n)
    expect(values(range.logs)).toEqual([1, 2, 3, 4])
    expect([range.first, range.last]).toEqual([2, 5].map((at) => read(chain.blocks[at] as ScriptedBlock)))
    expect(range.wasSplit).toBe(false)
    expect(asked(second, 'eth_getLogs')).toEqual([])
  })

  it.each([
    ['refuses them', () => ({ error: { code: -32602, message: 'the range is too large' } })],
    ['limits the rate', () => ({ error: { code: -32005, message: 'more than 10000 results' } })],
  ])('are asked for in parts as small as it takes when a node %s', async (_what, refusal) => {
    use(first)
    for (const value of upTo(20)) chain.mine(log(value))
    first.answer = withLogs((filter, honest) => (width(filter) > 3 ? refusal() : honest))
    const range = await reader.range(1n, 20n)
    expect(values(range.logs)).toEqual(upTo(20))
    expect(range.wasSplit).toBe(true)
    expect(asked(first, 'eth_getLogs').length).toBeGreaterThan(7)
  })

  it('are asked for in parts when a node takes too long for the whole', async () => {
    useWithin(500, first)
    for (const value of upTo(4)) chain.mine(log(value))
    first.respond = ([call]) =>
      call?.method === 'eth_getLogs' && width(call.params?.[0] as RangeFilter) > 2 ? 'silence' : undefined
    expect(values((await reader.range(1n, 4n)).logs)).toEqual(upTo(4))
  })

  it('are an error when even one block is refused by everybody', async () => {
    chain.mineMany(4)
    first.answer = second.answer = withLogs(() => ({ error: { code: -32000, message: 'never' } }))
    await expect(reader.range(1n, 4n)).rejects.toThrow('-32000: never')
  })

  it('are asked for elsewhere when a node is down', async () => {
    for (const value of upTo(4)) chain.mine(log(value))
    first.respond = () => ({ status: 502, body: '' })
    expect(values((await reader.range(1n, 4n)).logs)).toEqual(upTo(4))
  })

  it.each([100, 200, 1_000])('are found although a node silently leaves out all beyond %i', async (most) => {
    use(first)
    const total = most + 37
    const perBlock = 20
    for (let value = 0; value < total; value += perBlock)
      chain.mine(...upTo(Math.min(perBlock, total - value)).map((at) => log(value + at)))
    first.answer = withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, most) }))
    const range = await reader.range(1n, BigInt(chain.head.number))
    expect(values(range.logs)).toEqual(upTo(total))
  })

  it('of a single block are read from another node too when the first may have cut them short', async () => {
    chain.mine(...upTo(137).map(log))
    first.answer = withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, 100) }))
    expect(values((await reader.range(0n, 1n)).logs)).toEqual(upTo(137))
  })

  it('may really be a round number', async () => {
    for (const value of upTo(100)) chain.mine(log(value))
    expect(values((await reader.range(1n, 100n)).logs)).toEqual(upTo(100))
  })

  it('are not believed from a node that does not have the last block yet', async () => {
    for (const value of upTo(5)) chain.mine(log(value))
    const behind = chain.fork(3)
    first.answer = (call) => behind.answer(call)
    expect(values((await reader.range(1n, 5n)).logs)).toEqual(upTo(5))
    expect(asked(first, 'eth_getLogs')).toHaveLength(1)
    expect(preferred()).toBe(nameOf(second))
  })

  it('are refused when they are outside of it', async () => {
    use(first)
    for (const value of upTo(5)) chain.mine(log(value))
    first.answer = withLogs(() =>
      chain.answer({ method: 'eth_getLogs', params: [{ address: [contract], topics: [[event]] }] }),
    )
    await expect(reader.range(2n, 3n)).rejects.toThrow('logs outside of blocks 2 to 3')
  })

  it('have the times of their blocks, asked for where logs do not tell them', async () => {
    chain.mine(log(0), log(1))
    chain.mine(log(2))
    const times = [1, 1, 2].map((at) => BigInt(chain.blocks[at]?.timestamp ?? 0))
    expect((await reader.range(1n, 2n)).logs.map(({ timestamp }) => timestamp)).toEqual(times)
    expect(asked(first, 'eth_getBlockByHash')).toEqual([])
    chain.logsHaveTimes = false
    expect((await reader.range(1n, 2n)).logs.map(({ timestamp }) => timestamp)).toEqual(times)
    expect(asked(first, 'eth_getBlockByHash')).toHaveLength(2)
  })

  it('are refused when the chain changed between two parts', async () => {
    use(first)
    for (const value of upTo(4)) chain.mine(log(value))
    const fork = chain.fork(1)
    for (const value of upTo(3)) fork.mine(log(value))
    first.respond = ([call]) => {
      const filter = call?.params?.[0] as RangeFilter | undefined
      if (call?.method === 'eth_getLogs' && filter && hexToNumber(filter.fromBlock) === 3)
        first.answer = (other) => fork.answer(other)
      return undefined
    }
    first.answer = withLogs((filter, honest) =>
      width(filter) > 2 ? { error: { code: -32602, message: 'too large' } } : honest,
    )
    await expect(reader.range(1n, 4n)).rejects.toThrow('block 3 does not follow block 2')
  })

  it('are not asked for any more when the reader is told to stop', async () => {
    chain.mineMany(3)
    first.respond = ([call]) => (call?.method === 'eth_getLogs' ? 'silence' : undefined)
    const range = reader.range(1n, 3n)
    await eventually(() => asked(first, 'eth_getLogs').length).toBe(1)
    leaving.abort(new Error('going home'))
    await expect(range).rejects.toThrow('going home')
    expect(second.requests).toEqual([])
  })
})
