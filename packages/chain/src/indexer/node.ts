// Reads blocks and logs from one node, and checks that the answers have the right shape and match the request.
import { type Address, type Hex, numberToHex } from 'viem'
import { type RequestOptions, type RpcCall, type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import type { Block, Log, LogFilter } from './types.ts'

/** The logs of all blocks from `first` to `last`. */
export interface BlockLogs {
  first: Block
  last: Block
  logs: Log[]
}

/** A node that lacks what it is asked for, or returns an invalid answer, is not used for a while. */
export interface NodeReader {
  latest(endpoint: RpcEndpoint, options?: RequestOptions): Promise<Block>
  /** By number or by hash; null where the node has none. */
  blocks(endpoint: RpcEndpoint, ids: (bigint | Hex)[], options?: RequestOptions): Promise<(Block | null)[]>
  /** The logs of these very blocks. */
  logsOfBlocks(endpoint: RpcEndpoint, blocks: Block[]): Promise<Log[]>
  logsOfRange(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<BlockLogs>
}

interface RawBlock {
  number: Hex
  hash: Hex
  parentHash: Hex
  timestamp: Hex
  logsBloom: Hex
  transactions?: unknown[]
}

interface RawLog {
  address: Address
  topics: Hex[]
  data: Hex
  blockNumber: Hex
  blockHash: Hex
  blockTimestamp?: Hex
  transactionHash: Hex
  logIndex: Hex
}

const FULL_BLOOM: Hex = `0x${'ff'.repeat(256)}`

export function createNodeReader(rpc: RpcPool, filter: LogFilter, signal: AbortSignal): NodeReader {
  const query = { address: filter.addresses, topics: [filter.events] }

  async function latest(endpoint: RpcEndpoint, options?: RequestOptions): Promise<Block> {
    const raw = await endpoint.request('eth_getBlockByNumber', ['latest', false], { signal, ...options })
    return present(endpoint, 'the latest block', read(endpoint, raw, parseBlock))
  }

  async function blocks(endpoint: RpcEndpoint, ids: (bigint | Hex)[], options?: RequestOptions) {
    const raw = await endpoint.batch(ids.map(blockCall), { signal, ...options })
    return ids.map((_, at) => read(endpoint, raw[at], parseBlock))
  }

  async function logsOfBlocks(endpoint: RpcEndpoint, asked: Block[]): Promise<Log[]> {
    if (asked.length === 0) return []
    const raw = await endpoint.batch(
      asked.map(({ hash }) => ({ method: 'eth_getLogs', params: [{ ...query, blockHash: hash }] })),
      { signal },
    )
    return asked.flatMap(({ number, hash, timestamp }, at) => {
      const logs = read(endpoint, raw[at], (list) => parseLogs(list, () => timestamp))
      const own = present(endpoint, `the logs of block ${number}`, logs)
      if (own.every(({ blockHash }) => blockHash === hash)) return own
      throw new RpcError('transport', `${endpoint.name} gave a log of another block than ${hash}`)
    })
  }

  async function logsOfRange(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<BlockLogs> {
    const range = { fromBlock: numberToHex(from), toBlock: numberToHex(to) }
    const [rawLogs, rawFirst, rawLast] = await endpoint.batch(
      [{ method: 'eth_getLogs', params: [{ ...query, ...range }] }, blockCall(from), blockCall(to)],
      { signal },
    )
    // A node that does not have the last block yet omits its logs silently.
    const first = present(endpoint, `block ${from}`, read(endpoint, rawFirst, parseBlock))
    const last = present(endpoint, `block ${to}`, read(endpoint, rawLast, parseBlock))
    const times = await timesOf(endpoint, rawLogs)
    const logs = read(endpoint, rawLogs, (list) => parseLogs(list, ({ blockHash }) => times.get(blockHash)))
    const found = present(endpoint, `the logs of blocks ${from} to ${to}`, logs)
    if (found.every(({ blockNumber }) => blockNumber >= from && blockNumber <= to))
      return { first, last, logs: found }
    throw new RpcError('transport', `${endpoint.name} gave logs outside of blocks ${from} to ${to}`)
  }

  /** Reads the timestamps of blocks whose logs do not carry one. */
  async function timesOf(endpoint: RpcEndpoint, rawLogs: unknown): Promise<Map<Hex, bigint>> {
    const silent = read(endpoint, rawLogs, (list) => (list as RawLog[]).filter((log) => !log.blockTimestamp))
    const hashes = [...new Set((silent ?? []).map(({ blockHash }) => blockHash))]
    if (hashes.length === 0) return new Map()
    const found = await blocks(endpoint, hashes)
    return new Map(
      hashes.map((hash, at) => [hash, present(endpoint, `block ${hash}`, found[at] ?? null).timestamp]),
    )
  }

  /** Parses an answer; null stays null. */
  function read<T>(endpoint: RpcEndpoint, answer: unknown, parse: (answer: object) => T): T | null {
    if (answer === null) return null
    try {
      if (typeof answer === 'object' && answer !== undefined) return parse(answer)
    } catch (cause) {
      rpc.backOff(endpoint)
      throw new RpcError('transport', `${endpoint.name} gave a block or a log that is none`, { cause })
    }
    rpc.backOff(endpoint)
    throw new RpcError('transport', `${endpoint.name} answered with something else than blocks and logs`)
  }

  function present<T>(endpoint: RpcEndpoint, what: string, value: T | null): T {
    if (value !== null) return value
    rpc.backOff(endpoint)
    throw new RpcError('transport', `${endpoint.name} does not have ${what}`)
  }

  return { latest, blocks, logsOfBlocks, logsOfRange }
}

const blockCall = (id: bigint | Hex): RpcCall =>
  typeof id === 'bigint'
    ? { method: 'eth_getBlockByNumber', params: [numberToHex(id), false] }
    : { method: 'eth_getBlockByHash', params: [id, false] }

/** Some chains leave the bloom filter empty: for a block with transactions, an empty filter says nothing. */
function parseBlock(raw: object): Block {
  const { number, hash, parentHash, timestamp, logsBloom, transactions = [] } = raw as RawBlock
  const isTelling = transactions.length === 0 || /[^0]/.test(logsBloom.slice(2))
  return {
    number: BigInt(number),
    hash: hash32(hash),
    parentHash: hash32(parentHash),
    timestamp: BigInt(timestamp),
    logsBloom: isTelling ? logsBloom : FULL_BLOOM,
  }
}

function parseLogs(raw: object, timeOf: (log: RawLog) => bigint | undefined): Log[] {
  const logs = (raw as RawLog[]).map((log) => ({
    address: log.address,
    topics: log.topics,
    data: log.data,
    blockNumber: BigInt(log.blockNumber),
    blockHash: hash32(log.blockHash),
    timestamp: timeOf(log) ?? BigInt(log.blockTimestamp ?? 0),
    transactionHash: hash32(log.transactionHash),
    logIndex: Number(log.logIndex),
  }))
  return logs.sort(byPosition)
}

function hash32(hex: Hex): Hex {
  if (typeof hex === 'string' && hex.length === 66) return hex
  throw new TypeError('a hash has 32 bytes')
}

export const byPosition = (a: Log, b: Log) =>
  a.blockNumber === b.blockNumber ? a.logIndex - b.logIndex : a.blockNumber < b.blockNumber ? -1 : 1
