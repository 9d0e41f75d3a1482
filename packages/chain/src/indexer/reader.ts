// Reads blocks and logs from nodes that may lag, return wrong or partial data, or limit requests, and accepts only consistent answers.
import { type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import { bloomMatcher } from './bloom.ts'
import { type BlockLogs, byPosition, createNodeReader } from './node.ts'
import type { Block, Checkpoint, Log, LogFilter } from './types.ts'

export interface Head {
  block: Block
  /** The node that has the block: everything after it is read there, so that one read is of one chain. */
  endpoint: RpcEndpoint
}

export interface Range extends BlockLogs {
  /** Whether the range had to be split. */
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
  /** Reads from any node that is on the chain of `source`. */
  range(source: RpcEndpoint, from: bigint, to: bigint): Promise<Range>
}

/** Nodes that truncate their answers do it at a round number. */
const SUSPICIOUSLY_ROUND = 100
const HEAD_TIMEOUT_MS = 3_000

export function createReader(rpc: RpcPool, filter: LogFilter, signal: AbortSignal): ChainReader {
  const mayMatch = bloomMatcher(filter)
  const node = createNodeReader(rpc, filter, signal)

  async function head(known: Checkpoint | undefined): Promise<Head> {
    const endpoints = rpc.available()
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
    return { block: await node.latest(endpoint, { timeoutMs: HEAD_TIMEOUT_MS }), endpoint }
  }

  /** A block is accepted when it follows the one we have, or when the node returns it and its parent by hash. */
  async function isProven({ block, endpoint }: Head, known: Checkpoint | undefined): Promise<boolean> {
    if (block.hash === known?.hash && block.number === known.number) return true
    if (block.parentHash === known?.hash && block.number === known.number + 1n) return true
    try {
      const [same, parent] = await node.blocks(endpoint, [block.number, block.parentHash])
      const hasParent = block.number === 0n || parent?.number === block.number - 1n
      if (same?.hash === block.hash && hasParent) return true
      rpc.backOff(endpoint)
    } catch (error) {
      if (!(error instanceof RpcError)) throw error
    }
    return false
  }

  async function blocks(endpoint: RpcEndpoint, from: bigint, to: bigint): Promise<Block[]> {
    const numbers = Array.from({ length: Number(to - from) + 1 }, (_, at) => from + BigInt(at))
    const found: Block[] = []
    for (const block of await node.blocks(endpoint, numbers)) {
      const previous = found.at(-1)
      if (!block || (previous && block.parentHash !== previous.hash)) break
      found.push(block)
    }
    if (found[0]?.number === from) return found
    rpc.backOff(endpoint)
    throw new RpcError(
      'transport',
      `${endpoint.name} does not have block ${from}, though it named a later one`,
    )
  }

  async function requireUncontradicted(endpoint: RpcEndpoint, { number, hash, final }: Checkpoint) {
    // Includes endpoints that are backing off: this node may have made them look wrong.
    const others = rpc.endpoints.filter((other) => other !== endpoint)
    const answers = await Promise.allSettled(
      others.map((other) => node.blocks(other, [number], { timeoutMs: HEAD_TIMEOUT_MS })),
    )
    signal.throwIfAborted()
    const isContradicted = answers.some(
      (answer) => answer.status === 'fulfilled' && answer.value[0]?.hash === hash,
    )
    if (!isContradicted) return
    rpc.backOff(endpoint)
    throw new RpcError(
      'transport',
      `${endpoint.name} is on a fork that left the others before block ${final}`,
    )
  }

  async function logsOf(endpoint: RpcEndpoint, all: Block[]): Promise<Log[]> {
    const candidates = all.filter(({ logsBloom }) => mayMatch(logsBloom))
    const logs = await node.logsOfBlocks(endpoint, candidates)
    // A block whose filter matches seldom has no logs, and a round number of logs may be a truncated answer: both are asked for once
    // more, from another node if possible, and the logs of both answers are merged.
    const inDoubt = candidates.filter(({ hash }) =>
      isRound(logs.filter(({ blockHash }) => blockHash === hash).length),
    )
    if (inDoubt.length === 0) return logs.sort(byPosition)
    const found = new Map(logs.map((log) => [placeOf(log), log]))
    for (const log of await secondOpinion(endpoint, inDoubt)) found.set(placeOf(log), log)
    return [...found.values()].sort(byPosition)
  }

  /** Asks another node if there is one; a lagging node lacks the newest blocks and must not delay the others. */
  async function secondOpinion(endpoint: RpcEndpoint, inDoubt: Block[]): Promise<Log[]> {
    for (const other of rpc.available()) {
      if (other === endpoint) continue
      try {
        return await node.logsOfBlocks(other, inDoubt)
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
      }
    }
    return node.logsOfBlocks(endpoint, inDoubt)
  }

  async function range(source: RpcEndpoint, from: bigint, to: bigint): Promise<Range> {
    let last: unknown
    let isTooMuch = false
    for (const endpoint of rpc.ranked()) {
      // A smaller range may be all that is needed, so endpoints that are backing off are not waited for.
      if (isTooMuch && !rpc.available().includes(endpoint)) break
      try {
        const whole = { ...(await node.logsOfRange(endpoint, from, to)), wasSplit: false }
        if (endpoint !== source) await requireAgreement(source, endpoint, whole.last)
        if (whole.logs.length === 0 || !isRound(whole.logs.length)) return whole
        if (from < to) return await inHalves(source, from, to)
        return { ...whole, logs: await logsOf(endpoint, [whole.last]) }
      } catch (error) {
        if (!(error instanceof RpcError)) throw error
        last = error
        // Too many blocks or logs for one answer. Every provider words that error differently, so any refusal counts.
        isTooMuch ||= from < to && ['refused', 'timeout', 'rate-limited'].includes(error.kind)
      }
    }
    if (isTooMuch) return inHalves(source, from, to)
    throw last
  }

  /** A node may stay on a fork for longer than blocks take to become final; data from that fork would never be rolled back. */
  async function requireAgreement(source: RpcEndpoint, endpoint: RpcEndpoint, block: Block): Promise<void> {
    const [same] = await node.blocks(source, [block.number]).catch((cause: unknown) => {
      if (!(cause instanceof RpcError)) throw cause
      throw new RpcError('transport', `${source.name} cannot confirm block ${block.number}`, { cause })
    })
    if (same?.hash === block.hash) return
    rpc.backOff(endpoint)
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

  return { head, blocks, requireUncontradicted, logsOf, range }
}

const isRound = (count: number) => count % SUSPICIOUSLY_ROUND === 0
const placeOf = ({ blockHash, logIndex }: Log) => `${blockHash}/${logIndex}`
