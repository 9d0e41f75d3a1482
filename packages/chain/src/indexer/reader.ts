// Reads blocks and logs from nodes that may lag, lie, limit or leave things out, and believes only what adds up.
import { type Address, type Hex, numberToHex } from 'viem'
import { type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import { bloomMatcher } from './bloom.ts'
import type { Block, Checkpoint, Log, LogFilter } from './types.ts'

export interface Head {
  block: Block
  /** The node that has it: what follows is read there, so that one reading is of one chain. */
  endpoint: RpcEndpoint
}

/** The logs of all blocks from `first` to `last`. */
export interface Range {
  first: Block
  last: Block
  logs: Log[]
  /** Whether it had to be asked for in parts. */
  wasSplit: boolean
}

export interface ChainReader {
  /** The highest block that some node can prove it has. */
  head(known: Checkpoint | undefined): Promise<Head>
  /** Consecutive blocks, each the parent of the next; fewer than asked for when the chain changed meanwhile. */
  blocks(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<Block[]>
  /** Throws when a node contradicts another one that has the block we know. */
  requireUncontradicted(endpoint: RpcEndpoint, known: Checkpoint): Promise<void>
  /** The logs of these blocks, by block hash. */
  logsOf(endpoint: RpcEndpoint, blocks: Block[]): Promise<Log[]>
  /** From any node, as long as it is on the chain of `source`. */
  range(source: RpcEndpoint, from: bigint, to: bigint): Promise<Range>
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
/** Nodes that cut their answers short do it at a round number. */
const SUSPICIOUSLY_ROUND = 100
const HEAD_TIMEOUT_MS = 3_000

export function createReader(rpc: RpcPool, filter: LogFilter, signal: AbortSignal): ChainReader {
  const mayMatch = bloomMatcher(filter)
  const query = { address: filter.addresses, topics: [filter.events] }

  async function head(known: Checkpoint | undefined): Promise<Head> {
    const endpoints = rpc.awake()
    const answers = await Promise.allSettled(endpoints.map((endpoint) => latestOf(endpoint)))
    signal.throwIfAborted()
    const heads = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    // Highest first; among equals the endpoints keep their order, so that the preferred one is asked first.
    heads.sort((a, b) => Number(b.block.number - a.block.number))
    for (const candidate of heads) if (await isProven(candidate, known)) return candidate
    const failure = answers.find((answer) => answer.status === 'rejected')
    throw failure?.reason ?? new RpcError('transport', 'no node could prove the newest block it named')
  }

  async function latestOf(endpoint: RpcEndpoint): Promise<Head> {
    const options = { timeoutMs: HEAD_TIMEOUT_MS, signal }
    const raw = await endpoint.request<RawBlock | null>('eth_getBlockByNumber', ['latest', false], options)
    return { block: parseBlock(present(raw, endpoint, 'the latest block')), endpoint }
  }

  /** A block is believed when it follows the one we have, or when the node finds it and its parent on asking. */
  async function isProven({ block, endpoint }: Head, known: Checkpoint | undefined): Promise<boolean> {
    if (block.hash === known?.hash && block.number === known.number) return true
    if (block.parentHash === known?.hash && block.number === known.number + 1n) return true
    try {
      const [same, parent] = await endpoint.batch<(RawBlock | null)[]>(
        [
          { method: 'eth_getBlockByNumber', params: [numberToHex(block.number), false] },
          { method: 'eth_getBlockByHash', params: [block.parentHash, false] },
        ],
        { signal },
      )
      if (
        same?.hash === block.hash &&
        (block.number === 0n || BigInt(parent?.number ?? -1) === block.number - 1n)
      )
        return true
      rpc.rest(endpoint)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
    return false
  }

  async function blocks(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<Block[]> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at))
    const raw = await endpoint.batch<(RawBlock | null)[]>(
      numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [numberToHex(number), false] })),
      { signal },
    )
    const found: Block[] = []
    for (const one of raw) {
      if (!one) break
      const block = parseBlock(one)
      const previous = found.at(-1)
      if (previous && block.parentHash !== previous.hash) break
      found.push(block)
    }
    if (found[0]?.number === from) return found
    rpc.rest(endpoint)
    throw new RpcError(
      'transport',
      `${endpoint.name} does not have block ${from}, though it named a later one`,
    )
  }

  async function requireUncontradicted(endpoint: RpcEndpoint, { number, hash, final }: Checkpoint) {
    // Those that rest too: it may have been this node that made them look wrong.
    const others = rpc.endpoints.filter((other) => other !== endpoint)
    const options = { timeoutMs: HEAD_TIMEOUT_MS, signal }
    const params = [numberToHex(number), false]
    const answers = await Promise.allSettled(
      others.map((other) => other.request<RawBlock | null>('eth_getBlockByNumber', params, options)),
    )
    signal.throwIfAborted()
    const isContradicted = answers.some(
      (answer) => answer.status === 'fulfilled' && answer.value?.hash === hash,
    )
    if (!isContradicted) return
    rpc.rest(endpoint)
    throw new RpcError(
      'transport',
      `${endpoint.name} is on a fork that left the others before block ${final}`,
    )
  }

  async function logsOf(endpoint: RpcEndpoint, all: Block[]): Promise<Log[]> {
    const candidates = all.filter(({ logsBloom }) => mayMatch(logsBloom))
    const logs = await logsByHash(endpoint, candidates)
    // The bloom filter is seldom wrong on its own, and a round number of logs may be a part of them: what is none or round is asked for
    // once more, elsewhere if possible, and what either node has counts.
    const inDoubt = candidates.filter(({ hash }) =>
      isRound(logs.filter(({ blockHash }) => blockHash === hash).length),
    )
    if (inDoubt.length === 0) return logs.sort(byPosition)
    const found = new Map(logs.map((log) => [placeOf(log), log]))
    for (const log of await secondOpinion(endpoint, inDoubt)) found.set(placeOf(log), log)
    return [...found.values()].sort(byPosition)
  }

  /** Of another node where one can tell: one that lags does not have the newest blocks, and must not hold up those that do. */
  async function secondOpinion(endpoint: RpcEndpoint, inDoubt: Block[]): Promise<Log[]> {
    for (const other of rpc.awake()) {
      if (other === endpoint) continue
      try {
        return await logsByHash(other, inDoubt)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    }
    return logsByHash(endpoint, inDoubt)
  }

  async function logsByHash(endpoint: RpcEndpoint, asked: Block[]): Promise<Log[]> {
    if (asked.length === 0) return []
    const raw = await endpoint.batch<(RawLog[] | null)[]>(
      asked.map(({ hash }) => ({ method: 'eth_getLogs', params: [{ ...query, blockHash: hash }] })),
      { signal },
    )
    return asked.flatMap((block, at) =>
      present(raw[at] ?? null, endpoint, `the logs of block ${block.number}`).map((log) => {
        if (log.blockHash !== block.hash)
          throw new RpcError('transport', `${endpoint.name} gave a log of another block than ${block.hash}`)
        return parseLog(log, block.timestamp)
      }),
    )
  }

  async function range(source: RpcEndpoint, from: bigint, to: bigint): Promise<Range> {
    let last: unknown
    let isTooMuch = false
    for (const endpoint of rpc.ranked()) {
      // A part may be all it takes: nobody who rests is waited for.
      if (isTooMuch && !rpc.awake().includes(endpoint)) break
      try {
        const whole = await rangeFrom(endpoint, from, to)
        if (endpoint !== source) await requireAgreement(source, endpoint, whole.last)
        if (whole.logs.length === 0 || !isRound(whole.logs.length)) return whole
        if (from < to) return await inHalves(source, from, to)
        return { ...whole, logs: await logsOf(endpoint, [whole.last]) }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        last = error
        // Too many blocks or logs for one answer: no text of an error is the same with two providers, so any refusal counts.
        isTooMuch ||= from < to && ['refused', 'timeout', 'rate-limited'].includes(error.kind)
      }
    }
    if (isTooMuch) return inHalves(source, from, to)
    throw last
  }

  /** A node may be on a fork of its own for longer than blocks take to become final: what it has there would never be taken back. */
  async function requireAgreement(source: RpcEndpoint, endpoint: RpcEndpoint, block: Block): Promise<void> {
    const params = [numberToHex(block.number), false]
    const same = await source
      .request<RawBlock | null>('eth_getBlockByNumber', params, { signal })
      .catch((cause: unknown) => {
        if (!(cause instanceof RpcError)) throw cause
        throw new RpcError('transport', `${source.name} cannot confirm block ${block.number}`, { cause })
      })
    if (same?.hash === block.hash) return
    rpc.rest(endpoint)
    throw new RpcError('transport', `${endpoint.name} and ${source.name} differ in block ${block.number}`)
  }

  async function inHalves(source: RpcEndpoint, from: bigint, to: bigint): Promise<Range> {
    const middle = (from + to) / 2n
    const left = await range(source, from, middle)
    const right = await range(source, middle + 1n, to)
    if (right.first.parentHash !== left.last.hash)
      throw new RpcError(
        'transport',
        `block ${middle + 1n} does not follow block ${middle}: the chain changed meanwhile`,
      )
    return { first: left.first, last: right.last, logs: [...left.logs, ...right.logs], wasSplit: true }
  }

  async function rangeFrom(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<Range> {
    const [fromBlock, toBlock] = [numberToHex(from), numberToHex(to)]
    const [rawLogs, rawFirst, rawLast] = await endpoint.batch<
      [RawLog[] | null, RawBlock | null, RawBlock | null]
    >(
      [
        { method: 'eth_getLogs', params: [{ ...query, fromBlock, toBlock }] },
        { method: 'eth_getBlockByNumber', params: [fromBlock, false] },
        { method: 'eth_getBlockByNumber', params: [toBlock, false] },
      ],
      { signal },
    )
    // A node that does not have the last block yet leaves its logs out without a word.
    const first = parseBlock(present(rawFirst, endpoint, `block ${from}`))
    const last = parseBlock(present(rawLast, endpoint, `block ${to}`))
    const raw = present(rawLogs, endpoint, `the logs of blocks ${from} to ${to}`)
    const times = await timesOf(endpoint, raw)
    const logs = raw.map((log) => parseLog(log, times.get(log.blockHash)))
    if (logs.some(({ blockNumber }) => blockNumber < from || blockNumber > to))
      throw new RpcError('transport', `${endpoint.name} gave logs outside of blocks ${from} to ${to}`)
    return { first, last, logs: logs.sort(byPosition), wasSplit: false }
  }

  /** Of the blocks whose logs do not tell it themselves. */
  async function timesOf(endpoint: RpcEndpoint, logs: RawLog[]): Promise<Map<Hex, bigint>> {
    const hashes = [...new Set(logs.filter((log) => !log.blockTimestamp).map(({ blockHash }) => blockHash))]
    if (hashes.length === 0) return new Map()
    const raw = await endpoint.batch<(RawBlock | null)[]>(
      hashes.map((hash) => ({ method: 'eth_getBlockByHash', params: [hash, false] })),
      { signal },
    )
    return new Map(
      hashes.map((hash, at) => [hash, BigInt(present(raw[at] ?? null, endpoint, `block ${hash}`).timestamp)]),
    )
  }

  function present<T>(value: T | null, endpoint: RpcEndpoint, what: string): T {
    if (value !== null) return value
    rpc.rest(endpoint)
    throw new RpcError('transport', `${endpoint.name} does not have ${what}`)
  }

  return { head, blocks, requireUncontradicted, logsOf, range }
}

const isRound = (count: number) => count % SUSPICIOUSLY_ROUND === 0
const placeOf = ({ blockHash, logIndex }: Log) => `${blockHash}/${logIndex}`

const byPosition = (a: Log, b: Log) =>
  a.blockNumber === b.blockNumber ? a.logIndex - b.logIndex : a.blockNumber < b.blockNumber ? -1 : 1

/** Some chains leave the bloom filter empty: of a block with transactions that says nothing. */
function parseBlock({ number, hash, parentHash, timestamp, logsBloom, transactions = [] }: RawBlock): Block {
  const isTelling = transactions.length === 0 || /[^0]/.test(logsBloom.slice(2))
  return {
    number: BigInt(number),
    hash,
    parentHash,
    timestamp: BigInt(timestamp),
    logsBloom: isTelling ? logsBloom : FULL_BLOOM,
  }
}

function parseLog(raw: RawLog, time: bigint | undefined): Log {
  return {
    address: raw.address,
    topics: raw.topics,
    data: raw.data,
    blockNumber: BigInt(raw.blockNumber),
    blockHash: raw.blockHash,
    timestamp: time ?? BigInt(raw.blockTimestamp ?? 0),
    transactionHash: raw.transactionHash,
    logIndex: Number(raw.logIndex),
  }
}
