import { type Hex, hexToNumber, keccak256, numberToHex } from 'viem'
import { int } from './random.ts'

/** Faults of a node that answers, but not with the truth as it is now. */
export type NodeFault = 'lag' | 'lieAboutLatest' | 'rangeTooLarge' | 'truncateLogs' | 'dropTransaction'

export interface Call {
  id?: unknown
  method: string
  params?: unknown[]
}
export interface Answer {
  result?: unknown
  error?: { code: number; message: string; data?: unknown }
}
export type Ask = (method: string, params: unknown[]) => Promise<Answer>

const MOST_LOGS = 100
const LONGEST_RANGE = 4
/** Where a method names the block it wants; all of these take `latest` and the like. */
const BLOCK_PARAMETER: Record<string, number> = {
  eth_call: 1,
  eth_estimateGas: 1,
  eth_feeHistory: 1,
  eth_getBalance: 1,
  eth_getBlockByNumber: 0,
  eth_getBlockReceipts: 0,
  eth_getCode: 1,
  eth_getStorageAt: 2,
  eth_getTransactionCount: 1,
}

interface Filter {
  fromBlock?: string
  toBlock?: string
  blockHash?: string
}

/** Whether a fault can be seen in the answer to a call. */
export function concerns(fault: NodeFault, { method, params = [] }: Call): boolean {
  switch (fault) {
    case 'lag':
      return method.startsWith('eth_') && method !== 'eth_chainId' && method !== 'eth_sendRawTransaction'
    case 'lieAboutLatest':
      return method === 'eth_blockNumber' || (method === 'eth_getBlockByNumber' && params[0] === 'latest')
    case 'rangeTooLarge':
    case 'truncateLogs':
      return method === 'eth_getLogs'
    case 'dropTransaction':
      return method === 'eth_sendRawTransaction'
  }
}

/** A node with a fault, in front of the honest one behind `ask`. One HTTP request sees one and the same node. */
export function faultyNode(fault: NodeFault, ask: Ask, random: () => number): Ask {
  switch (fault) {
    case 'lag':
      return lagging(ask, int(random, 1, 12))
    case 'lieAboutLatest':
      return boasting(ask, int(random, 5, 500), random)
    case 'rangeTooLarge':
      return narrow(ask)
    case 'truncateLogs':
      return async (method, params) => {
        const answer = await ask(method, params)
        return Array.isArray(answer.result) ? { result: answer.result.slice(0, MOST_LOGS) } : answer
      }
    case 'dropTransaction':
      return async (_method, [raw]) => ({ result: keccak256(raw as Hex) })
  }
}

/** The node as it was some blocks ago. */
function lagging(ask: Ask, behind: number): Ask {
  let known: Promise<number> | undefined
  const head = () => {
    known ??= ask('eth_blockNumber', []).then(({ result }) =>
      Math.max(0, hexToNumber(result as Hex) - behind),
    )
    return known
  }

  return async (method, params) => {
    const latest = await head()
    if (method === 'eth_blockNumber') return { result: numberToHex(latest) }
    if (method === 'eth_getLogs') return logsUpTo(latest, ask, params[0] as Filter)
    const at = BLOCK_PARAMETER[method]
    if (at === undefined) return unlessNewer(latest, await ask(method, params))
    const wanted = blockNumber(params[at], latest)
    if (wanted === undefined) return unlessNewer(latest, await ask(method, params))
    if (wanted > latest) return { result: null }
    return ask(method, [...params.slice(0, at), numberToHex(wanted), ...params.slice(at + 1)])
  }
}

async function logsUpTo(latest: number, ask: Ask, filter: Filter): Promise<Answer> {
  if (filter.blockHash !== undefined) {
    const { result } = unlessNewer(latest, await ask('eth_getBlockByHash', [filter.blockHash, false]))
    return result ? ask('eth_getLogs', [filter]) : { error: { code: -32000, message: 'unknown block' } }
  }
  const from = blockNumber(filter.fromBlock ?? 'latest', latest) ?? latest
  const to = Math.min(blockNumber(filter.toBlock ?? 'latest', latest) ?? latest, latest)
  if (from > to) return { result: [] }
  return ask('eth_getLogs', [{ ...filter, fromBlock: numberToHex(from), toBlock: numberToHex(to) }])
}

/** Hides blocks, transactions and receipts that the lagging node has not seen yet. */
function unlessNewer(latest: number, answer: Answer): Answer {
  const found = answer.result
  if (typeof found !== 'object' || found === null) return answer
  const number = 'blockNumber' in found ? found.blockNumber : 'number' in found ? found.number : undefined
  return typeof number === 'string' && hexToNumber(number as Hex) > latest ? { result: null } : answer
}

/** Claims blocks that nobody has. */
function boasting(ask: Ask, ahead: number, random: () => number): Ask {
  const raise = (number: unknown) => numberToHex(hexToNumber(number as Hex) + ahead)
  return async (method, params) => {
    const { result, error } = await ask(method, params)
    if (error) return { error }
    if (method === 'eth_blockNumber') return { result: raise(result) }
    const block = result as { number: Hex }
    const hash = `0x${Array.from({ length: 64 }, () => int(random, 0, 15).toString(16)).join('')}`
    return { result: { ...block, number: raise(block.number), hash } }
  }
}

function narrow(ask: Ask): Ask {
  return async (method, params) => {
    const filter = params[0] as Filter
    const latest = hexToNumber((await ask('eth_blockNumber', [])).result as Hex)
    const from = blockNumber(filter.fromBlock ?? 'latest', latest) ?? latest
    const to = blockNumber(filter.toBlock ?? 'latest', latest) ?? latest
    if (filter.blockHash !== undefined || to - from < LONGEST_RANGE) return ask(method, params)
    const message = `query exceeds max block range ${LONGEST_RANGE}`
    return { error: { code: -32602, message } }
  }
}

/** Undefined for what names a block otherwise, by its hash for example. */
function blockNumber(value: unknown, latest: number): number | undefined {
  if (typeof value !== 'string') return undefined
  if (value === 'earliest') return 0
  if (/^0x[0-9a-f]{1,15}$/i.test(value)) return hexToNumber(value as Hex)
  return value.startsWith('0x') ? undefined : latest
}
