import { type Address, type Hex, hexToNumber, keccak256, numberToHex, toHex } from 'viem'
import { type ChainReader, createReader, type Range } from '../indexer/reader.ts'
import type { Block } from '../indexer/types.ts'
import { createRpcPool, type RpcEndpoint, type RpcPool } from '../rpc/index.ts'
import { type ScriptedBlock, ScriptedChain, type ScriptedLog } from './scripted-chain.ts'
import { type Answer, type Call, type ScriptedNode, startScriptedNode } from './scripted-node.ts'

const CHAIN = 31_338
export const contract: Address = '0x00000000000000000000000000000000000000c1'
export const event = keccak256(toHex('Happened(uint256)'))

export const log = (value: number): ScriptedLog => ({
  address: contract,
  topics: [event],
  data: numberToHex(value, { size: 32 }),
})
export const values = (logs: { data: Hex }[]) => logs.map(({ data }) => hexToNumber(data))
export const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

/** A block as the reader gives it. */
export const read = ({ logs, ...block }: ScriptedBlock): Block => ({
  ...block,
  number: BigInt(block.number),
  timestamp: BigInt(block.timestamp),
})

export const asked = (node: ScriptedNode, method: string) =>
  node.requests.flat().filter((call) => call.method === method)
export const nameOf = (node: ScriptedNode) => new URL(node.url).host

export interface RangeFilter {
  fromBlock: Hex
  toBlock: Hex
}
export const width = ({ fromBlock, toBlock }: RangeFilter) =>
  hexToNumber(toBlock) - hexToNumber(fromBlock) + 1

/** A chain, two nodes that serve it, and a reader that asks them. */
export class ReaderBench {
  readonly chain: ScriptedChain
  readonly first: ScriptedNode
  readonly second: ScriptedNode
  readonly leaving = new AbortController()
  rpc: RpcPool
  reader: ChainReader

  private constructor(chain: ScriptedChain, first: ScriptedNode, second: ScriptedNode) {
    this.chain = chain
    this.first = first
    this.second = second
    this.rpc = this.#pool(10_000, first, second)
    this.reader = this.#read()
  }

  static async start(): Promise<ReaderBench> {
    const chain = new ScriptedChain(CHAIN)
    const node = () => startScriptedNode((call) => chain.answer(call))
    return new ReaderBench(chain, await node(), await node())
  }

  /** Reads from these nodes only. */
  use(...nodes: ScriptedNode[]): void {
    this.useWithin(10_000, ...nodes)
  }

  useWithin(timeoutMs: number, ...nodes: ScriptedNode[]): void {
    this.rpc = this.#pool(timeoutMs, ...nodes)
    this.reader = this.#read()
  }

  /** Of the chain that the last node is on. */
  range(from: bigint, to: bigint): Promise<Range> {
    const source = this.rpc.endpoints.at(-1)
    if (!source) throw new Error('a pool has at least one endpoint')
    return this.reader.range(source, from, to)
  }

  /** The chain as a node tells it that handles logs in a way of its own. */
  withLogs(answer: (filter: RangeFilter, honest: Answer) => Answer): (call: Call) => Answer {
    return (call) => {
      const honest = this.chain.answer(call)
      return call.method === 'eth_getLogs' ? answer(call.params?.[0] as RangeFilter, honest) : honest
    }
  }

  preferred(): string | undefined {
    return this.rpc.ranked()[0]?.name
  }

  endpointOf(node: ScriptedNode): RpcEndpoint {
    const found = this.rpc.endpoints.find(({ name }) => name === nameOf(node))
    if (!found) throw new Error('the node is not in the pool')
    return found
  }

  async close(): Promise<void> {
    await Promise.all([this.first.close(), this.second.close()])
  }

  #pool(timeoutMs: number, ...nodes: ScriptedNode[]): RpcPool {
    return createRpcPool({ chainId: CHAIN, urls: nodes.map(({ url }) => url), timeoutMs, now: () => 0 })
  }

  #read(): ChainReader {
    return createReader(this.rpc, { addresses: [contract], events: [event] }, this.leaving.signal)
  }
}
