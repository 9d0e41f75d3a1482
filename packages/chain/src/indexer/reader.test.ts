import { keccak256 } from 'viem'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RpcError } from '../rpc/index.ts'
import { asked, nameOf, ReaderBench, read } from '../testing/reader-bench.ts'
import type { ScriptedBlock, ScriptedChain } from '../testing/scripted-chain.ts'
import type { ScriptedNode } from '../testing/scripted-node.ts'
import type { Checkpoint } from './types.ts'

let bench: ReaderBench
let chain: ScriptedChain
let first: ScriptedNode
let second: ScriptedNode

beforeEach(async () => {
  bench = await ReaderBench.start()
  ;({ chain, first, second } = bench)
})
afterEach(() => bench.close())

const checkpoint = ({ number, hash, timestamp }: ScriptedBlock): Checkpoint => ({
  number: BigInt(number),
  hash,
  timestamp: BigInt(timestamp),
  final: 0n,
})

describe('the head', () => {
  it('is the highest that a node names', async () => {
    chain.mineMany(5)
    const behind = chain.fork(3)
    first.answer = (call) => behind.answer(call)
    const head = await bench.reader.head(undefined)
    expect(head.block.number).toBe(5n)
    expect(head.endpoint).toBe(bench.endpointOf(second))
    expect(bench.rpc.available()).toHaveLength(2)
  })

  it('is read from the first node when both have it', async () => {
    chain.mineMany(5)
    expect((await bench.reader.head(undefined)).endpoint).toBe(bench.endpointOf(first))
  })

  it('needs no proof when it follows the block that is known', async () => {
    chain.mineMany(3)
    const known = checkpoint(chain.head)
    const { hash } = chain.mine()
    expect((await bench.reader.head(known)).block.hash).toBe(hash)
    expect([first, second].flatMap((node) => asked(node, 'eth_getBlockByHash'))).toEqual([])
  })

  it.each([
    ['invents a block', (honest: ScriptedBlock) => ({ ...honest, number: '0x64', hash: keccak256('0x01') })],
    ['makes up a hash', (honest: ScriptedBlock) => ({ ...honest, hash: keccak256('0x01') })],
    ['numbers a block higher than it is', (honest: ScriptedBlock) => ({ ...honest, number: '0x64' })],
    [
      'hangs a block onto a parent that it does not have',
      (honest: ScriptedBlock) => ({ ...honest, parentHash: keccak256('0x02') }),
    ],
  ])('is not believed when a node %s', async (_what, lie) => {
    chain.mineMany(5)
    first.answer = (call) =>
      call.params?.[0] === 'latest' ? { result: lie(chain.head) } : chain.answer(call)
    const head = await bench.reader.head(undefined)
    expect(head.block).toEqual(read(chain.head))
    expect(head.endpoint).toBe(bench.endpointOf(second))
    expect(bench.preferred()).toBe(nameOf(second))
  })

  it('may be the very first block', async () => {
    expect((await bench.reader.head(undefined)).block.number).toBe(0n)
  })

  it('is an error when nobody can prove one', async () => {
    bench.use(first)
    first.answer = (call) =>
      call.params?.[0] === 'latest' ? { result: { ...chain.head, number: '0x64' } } : chain.answer(call)
    await expect(bench.reader.head(undefined)).rejects.toThrow(
      'no node could prove the newest block it named',
    )
  })

  it('is an error when nobody answers', async () => {
    first.respond = second.respond = () => ({ status: 502, body: '' })
    await expect(bench.reader.head(undefined)).rejects.toThrow(RpcError)
  })
})

describe('consecutive blocks', () => {
  it('come in order', async () => {
    chain.mineMany(5)
    const blocks = await bench.reader.blocks(bench.endpointOf(first), 2n, 5n)
    expect(blocks).toEqual(chain.blocks.slice(2).map(read))
  })

  it('end where the chain changed while they were read', async () => {
    chain.mineMany(5)
    const fork = chain.fork(1)
    fork.mineMany(4)
    first.answer = (call) => (Number(call.params?.[0]) >= 4 ? fork : chain).answer(call)
    const blocks = await bench.reader.blocks(bench.endpointOf(first), 1n, 5n)
    expect(blocks.map(({ number }) => number)).toEqual([1n, 2n, 3n])
  })

  it('end where the node does', async () => {
    chain.mineMany(3)
    expect(await bench.reader.blocks(bench.endpointOf(first), 2n, 9n)).toHaveLength(2)
  })

  it('are not believed when the first is missing', async () => {
    chain.mineMany(3)
    await expect(bench.reader.blocks(bench.endpointOf(first), 4n, 6n)).rejects.toThrow(
      'does not have block 4',
    )
    expect(bench.preferred()).toBe(nameOf(second))
  })
})
