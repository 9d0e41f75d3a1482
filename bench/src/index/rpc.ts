import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { type Hex, numberToHex } from 'viem'
import { CHAIN_ID, record } from './chain.ts'
import { type BlockJson, serialise } from './json.ts'

/**
 * A node for a recorded chain, as a process of its own: `node rpc.ts --seed 1 --events 100000`. It prints where it listens, once it does.
 * `POST /control` with `{"append": 50}` mines a block of 50 events and answers when it became the head; `GET /control` tells what was asked so far.
 */
type Request = { id?: unknown; method?: string; params?: unknown[] }
type LogsFilter = {
  fromBlock?: string
  toBlock?: string
  blockHash?: Hex
  address?: Hex | Hex[]
  topics?: (Hex | Hex[] | null)[]
}

/** reth's defaults; hosted nodes allow less. */
const MOST_LOGS = 20_000
const MOST_BLOCKS = 100_000

class Refusal extends Error {
  readonly code: number
  constructor(code: number, message: string) {
    super(message)
    this.code = code
  }
}

const { values } = parseArgs({ options: { seed: { type: 'string' }, events: { type: 'string' } } })
const recording = record({ seed: Number(values.seed), events: Number(values.events) })
const blocks = recording.blocks.map(serialise)
const byHash = new Map(blocks.map((block) => [block.hash, block]))
const asked: Record<string, number> = {}
let firstRequestAt: number | null = null

const methods: Record<string, (params: unknown[]) => string> = {
  eth_chainId: () => JSON.stringify(numberToHex(CHAIN_ID)),
  eth_blockNumber: () => JSON.stringify(numberToHex(head())),
  eth_getBlockByNumber: ([tag, full]) => answer(blocks[numberOf(tag)], full),
  eth_getBlockByHash: ([hash, full]) => answer(byHash.get(hash as Hex), full),
  eth_getLogs: ([filter]) => list(logs(filter as LogsFilter)),
}

function head(): number {
  return blocks.length - 1
}

function numberOf(tag: unknown): number {
  if (tag === 'earliest') return 0
  return typeof tag === 'string' && tag.startsWith('0x') ? Number(tag) : head()
}

function answer(block: BlockJson | undefined, full: unknown): string {
  if (!block) return 'null'
  return full ? block.full : block.light
}

function list(items: string[]): string {
  return `[${items.join(',')}]`
}

function logs(filter: LogsFilter): string[] {
  const addresses = filter.address === undefined ? undefined : new Set([filter.address].flat().map(lower))
  const topics = (filter.topics ?? []).map((topic) =>
    topic === null ? undefined : new Set([topic].flat().map(lower)),
  )
  const found: string[] = []
  for (const block of blocksOf(filter)) {
    for (const log of block.logs) {
      if (addresses && !addresses.has(log.address)) continue
      if (topics.some((wanted, index) => wanted && !wanted.has(log.topics[index] ?? '0x'))) continue
      if (found.length === MOST_LOGS) throw new Refusal(-32602, `query exceeds max results ${MOST_LOGS}`)
      found.push(log.json)
    }
  }
  return found
}

function blocksOf({ blockHash, fromBlock, toBlock }: LogsFilter): BlockJson[] {
  if (blockHash) {
    const block = byHash.get(blockHash)
    if (!block) throw new Refusal(-32000, 'unknown block')
    return [block]
  }
  const from = numberOf(fromBlock)
  const to = numberOf(toBlock)
  if (to - from >= MOST_BLOCKS) throw new Refusal(-32602, `query exceeds max block range ${MOST_BLOCKS}`)
  return blocks.slice(from, to + 1)
}

function lower(hex: Hex): Hex {
  return hex.toLowerCase() as Hex
}

function respond({ id, method = '', params = [] }: Request): string {
  asked[method] = (asked[method] ?? 0) + 1
  const prefix = `{"jsonrpc":"2.0","id":${JSON.stringify(id ?? null)},`
  try {
    const call = methods[method]
    if (!call) throw new Refusal(-32601, `the method ${method} does not exist`)
    return `${prefix}"result":${call(params)}}`
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return `${prefix}"error":${JSON.stringify({ code: error.code, message: error.message })}}`
  }
}

function control(body: string): unknown {
  if (!body) return { firstRequestAt, asked, head: head(), counts: recording.market.count() }
  const { append } = JSON.parse(body) as { append: number }
  const block = serialise(recording.append(append))
  byHash.set(block.hash, block)
  blocks.push(block)
  return { number: head(), at: now(), counts: recording.market.count() }
}

/** Comparable between processes of one machine, finer than Date.now(). */
function now(): number {
  return performance.timeOrigin + performance.now()
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const server = createServer(async (request, response) => {
  const body = await read(request)
  response.setHeader('content-type', 'application/json')
  if (request.url === '/control') return response.end(JSON.stringify(control(body)))
  firstRequestAt ??= now()
  const calls = JSON.parse(body) as Request | Request[]
  response.end(Array.isArray(calls) ? list(calls.map(respond)) : respond(calls))
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
