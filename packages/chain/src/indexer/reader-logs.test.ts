import { type Hex, hexToNumber, numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RpcError } from '../rpc/index.ts'
import { eventually } from '../testing/eventually.ts'
import {
  asked,
  contract,
  event,
  log,
  nameOf,
  type RangeFilter,
  ReaderBench,
  read,
  upTo,
  values,
  width,
} from '../testing/reader-bench.ts'
import type { ScriptedBlock, ScriptedChain } from '../testing/scripted-chain.ts'
import type { ScriptedNode } from '../testing/scripted-node.ts'

let bench: ReaderBench
let chain: ScriptedChain
let first: ScriptedNode
let second: ScriptedNode

beforeEach(async () => {
  bench = await ReaderBench.start()
  ;({ chain, first, second } = bench)
})
afterEach(() => bench.close())

describe('the logs of blocks', () => {
  beforeEach(() => {
    chain.mine(log(0), log(1))
    chain.mine()
    chain.mine(log(2))
  })
  const all = () => chain.blocks.map(read)

  it('are asked for only where the bloom filter promises some', async () => {
    const logs = await bench.reader.logsOf(bench.endpointOf(first), all())
    expect(values(logs)).toEqual([0, 1, 2])
    expect(asked(first, 'eth_getLogs').map(({ params }) => params?.[0])).toEqual(
      [1, 3].map((at) => expect.objectContaining({ blockHash: chain.blocks[at]?.hash })),
    )
  })

  it('are asked for although the bloom filter is empty when the block has transactions', async () => {
    bench.use(first)
    first.answer = (call) => {
      const { result } = chain.answer(call)
      if (call.method !== 'eth_getBlockByNumber') return { result }
      const block = result as { number: Hex }
      const transactions = block.number === '0x2' ? [] : [numberToHex(1, { size: 32 })]
      return { result: { ...block, logsBloom: numberToHex(0, { size: 256 }), transactions } }
    }
    const blocks = await bench.reader.blocks(bench.endpointOf(first), 1n, 3n)
    expect(values(await bench.reader.logsOf(bench.endpointOf(first), blocks))).toEqual([0, 1, 2])
    expect(asked(first, 'eth_getLogs')).toHaveLength(2)
  })

  it('have the time of their block, whatever the node says', async () => {
    chain.logsHaveTimes = false
    const logs = await bench.reader.logsOf(bench.endpointOf(first), all())
    expect(logs.map(({ timestamp }) => timestamp)).toEqual(
      [1, 1, 3].map((at) => BigInt(chain.blocks[at]?.timestamp ?? 0)),
    )
  })

  it('are asked for elsewhere when a node leaves out what the bloom filter promises', async () => {
    first.answer = bench.withLogs((filter, honest) =>
      'blockHash' in filter && filter.blockHash === chain.head.hash ? { result: [] } : honest,
    )
    expect(values(await bench.reader.logsOf(bench.endpointOf(first), all()))).toEqual([0, 1, 2])
    expect(asked(second, 'eth_getLogs')).toHaveLength(1)
  })

  it('are asked for again of the only node there is', async () => {
    bench.use(first)
    let answers = 0
    first.answer = bench.withLogs((_filter, honest) => (++answers <= 2 ? { result: [] } : honest))
    expect(values(await bench.reader.logsOf(bench.endpointOf(first), all()))).toEqual([0, 1, 2])
  })

  it('are those that either of two nodes has when one may have cut its answer short', async () => {
    chain.mine(...upTo(137).map(log))
    const cut = bench.withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, 100) }))
    first.answer = cut
    expect(values(await bench.reader.logsOf(bench.endpointOf(first), [read(chain.head)]))).toEqual(upTo(137))
    first.answer = (call) => chain.answer(call)
    second.answer = cut
    expect(values(await bench.reader.logsOf(bench.endpointOf(second), [read(chain.head)]))).toEqual(upTo(137))
  })

  it('may be none, when two nodes say so', async () => {
    first.answer = second.answer = bench.withLogs(() => ({ result: [] }))
    expect(await bench.reader.logsOf(bench.endpointOf(first), all())).toEqual([])
  })

  it.each([
    ['does not have the block', () => ({ error: { code: -32000, message: 'unknown block' } })],
    ['is limited', () => ({ error: { code: -32005, message: 'too many requests' } })],
  ])('are asked for again of the same node when the other one %s', async (_what, refusal) => {
    second.answer = bench.withLogs(refusal)
    let answers = 0
    first.answer = bench.withLogs((_filter, honest) => (++answers <= 2 ? { result: [] } : honest))
    expect(values(await bench.reader.logsOf(bench.endpointOf(first), all()))).toEqual([0, 1, 2])
  })

  it('are not none because a node answers nothing', async () => {
    first.answer = second.answer = bench.withLogs(() => ({ result: null }))
    await expect(bench.reader.logsOf(bench.endpointOf(first), all())).rejects.toThrow(RpcError)
  })

  it('are refused when they are of another block', async () => {
    const fork = chain.fork(2)
    fork.mine(log(9))
    first.answer = bench.withLogs(() =>
      fork.answer({
        method: 'eth_getLogs',
        params: [{ address: [contract], topics: [[event]], blockHash: fork.head.hash }],
      }),
    )
    await expect(bench.reader.logsOf(bench.endpointOf(first), [read(chain.head)])).rejects.toThrow(
      'a log of another block',
    )
  })
})

describe('the logs of a range', () => {
  it('come in order, with the blocks at its ends', async () => {
    for (const value of upTo(7)) chain.mine(log(value))
    const range = await bench.range(2n, 5n)
    expect(values(range.logs)).toEqual([1, 2, 3, 4])
    expect([range.first, range.last]).toEqual([2, 5].map((at) => read(chain.blocks[at] as ScriptedBlock)))
    expect(range.wasSplit).toBe(false)
    expect(asked(second, 'eth_getLogs')).toEqual([])
  })

  it.each([
    ['refuses them', () => ({ error: { code: -32602, message: 'the range is too large' } })],
    ['limits the rate', () => ({ error: { code: -32005, message: 'more than 10000 results' } })],
  ])('are asked for in parts as small as it takes when a node %s', async (_what, refusal) => {
    bench.use(first)
    for (const value of upTo(20)) chain.mine(log(value))
    first.answer = bench.withLogs((filter, honest) => (width(filter) > 3 ? refusal() : honest))
    const range = await bench.range(1n, 20n)
    expect(values(range.logs)).toEqual(upTo(20))
    expect(range.wasSplit).toBe(true)
    expect(asked(first, 'eth_getLogs').length).toBeGreaterThan(7)
  })

  it('are asked for in parts when a node takes too long for the whole', async () => {
    bench.useWithin(500, first)
    for (const value of upTo(4)) chain.mine(log(value))
    first.respond = ([call]) =>
      call?.method === 'eth_getLogs' && width(call.params?.[0] as RangeFilter) > 2 ? 'silence' : undefined
    expect(values((await bench.range(1n, 4n)).logs)).toEqual(upTo(4))
  })

  it('are asked for as a whole elsewhere when a node refuses them however few they are', async () => {
    for (const value of upTo(20)) chain.mine(log(value))
    first.answer = bench.withLogs(() => ({ error: { code: -32601, message: 'no logs here' } }))
    const range = await bench.range(1n, 20n)
    expect(values(range.logs)).toEqual(upTo(20))
    expect(range.wasSplit).toBe(false)
  })

  it('are asked for elsewhere when a node answers nothing', async () => {
    for (const value of upTo(4)) chain.mine(log(value))
    first.answer = bench.withLogs(() => ({ result: null }))
    expect(values((await bench.range(1n, 4n)).logs)).toEqual(upTo(4))
  })

  it('are an error when even one block is refused by everybody', async () => {
    chain.mineMany(4)
    first.answer = second.answer = bench.withLogs(() => ({ error: { code: -32000, message: 'never' } }))
    await expect(bench.range(1n, 4n)).rejects.toThrow('-32000: never')
  })

  it('are asked for elsewhere when a node is down', async () => {
    for (const value of upTo(4)) chain.mine(log(value))
    first.respond = () => ({ status: 502, body: '' })
    expect(values((await bench.range(1n, 4n)).logs)).toEqual(upTo(4))
  })

  it.each([100, 200, 1_000])('are found although a node silently leaves out all beyond %i', async (most) => {
    bench.use(first)
    const total = most + 37
    const perBlock = 20
    for (let value = 0; value < total; value += perBlock)
      chain.mine(...upTo(Math.min(perBlock, total - value)).map((at) => log(value + at)))
    first.answer = bench.withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, most) }))
    const range = await bench.range(1n, BigInt(chain.head.number))
    expect(values(range.logs)).toEqual(upTo(total))
  })

  it('of a single block are read from another node too when the first may have cut them short', async () => {
    chain.mine(...upTo(137).map(log))
    first.answer = bench.withLogs((_filter, { result }) => ({ result: (result as unknown[]).slice(0, 100) }))
    expect(values((await bench.range(0n, 1n)).logs)).toEqual(upTo(137))
  })

  it('may really be a round number', async () => {
    for (const value of upTo(100)) chain.mine(log(value))
    expect(values((await bench.range(1n, 100n)).logs)).toEqual(upTo(100))
  })

  it('are not believed from a node that does not have the last block yet', async () => {
    for (const value of upTo(5)) chain.mine(log(value))
    const behind = chain.fork(3)
    first.answer = (call) => behind.answer(call)
    expect(values((await bench.range(1n, 5n)).logs)).toEqual(upTo(5))
    expect(asked(first, 'eth_getLogs')).toHaveLength(1)
    expect(bench.preferred()).toBe(nameOf(second))
  })

  it('are not believed from a node that is on another fork than the one that named the head', async () => {
    for (const value of upTo(5)) chain.mine(log(value))
    const fork = chain.fork(2)
    for (const value of [7, 8, 9]) fork.mine(log(value))
    first.answer = (call) => fork.answer(call)
    expect(values((await bench.range(1n, 5n)).logs)).toEqual(upTo(5))
    expect(bench.preferred()).toBe(nameOf(second))
  })

  it('are an error when nobody can tell whether they are of the right fork', async () => {
    chain.mineMany(3)
    second.respond = () => ({ status: 502, body: '' })
    await expect(bench.range(1n, 3n)).rejects.toThrow(RpcError)
  })

  it('are refused when they are outside of it', async () => {
    bench.use(first)
    for (const value of upTo(5)) chain.mine(log(value))
    first.answer = bench.withLogs(() =>
      chain.answer({ method: 'eth_getLogs', params: [{ address: [contract], topics: [[event]] }] }),
    )
    await expect(bench.range(2n, 3n)).rejects.toThrow('logs outside of blocks 2 to 3')
  })

  it('have the times of their blocks, asked for where logs do not tell them', async () => {
    chain.mine(log(0), log(1))
    chain.mine(log(2))
    const times = [1, 1, 2].map((at) => BigInt(chain.blocks[at]?.timestamp ?? 0))
    expect((await bench.range(1n, 2n)).logs.map(({ timestamp }) => timestamp)).toEqual(times)
    expect(asked(first, 'eth_getBlockByHash')).toEqual([])
    chain.logsHaveTimes = false
    expect((await bench.range(1n, 2n)).logs.map(({ timestamp }) => timestamp)).toEqual(times)
    expect(asked(first, 'eth_getBlockByHash')).toHaveLength(2)
  })

  it('are refused when the chain changed between two parts', async () => {
    bench.use(first)
    for (const value of upTo(4)) chain.mine(log(value))
    const fork = chain.fork(1)
    for (const value of upTo(3)) fork.mine(log(value))
    first.respond = ([call]) => {
      const filter = call?.params?.[0] as RangeFilter | undefined
      if (call?.method === 'eth_getLogs' && filter && hexToNumber(filter.fromBlock) === 3)
        first.answer = (other) => fork.answer(other)
      return undefined
    }
    first.answer = bench.withLogs((filter, honest) =>
      width(filter) > 2 ? { error: { code: -32602, message: 'too large' } } : honest,
    )
    await expect(bench.range(1n, 4n)).rejects.toThrow('block 3 does not follow block 2')
  })

  it('are not asked for any more when the reader is told to stop', async () => {
    chain.mineMany(3)
    first.respond = ([call]) => (call?.method === 'eth_getLogs' ? 'silence' : undefined)
    const range = bench.range(1n, 3n)
    await eventually(() => asked(first, 'eth_getLogs').length).toBe(1)
    bench.leaving.abort('going home')
    await expect(range).rejects.toBe('going home')
    expect(second.requests).toEqual([])
  })
})
