import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, type Hex, hexToNumber, numberToHex } from 'viem'
import { type RequestOptions, type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import type { RecentBroadcasts } from './recent-broadcasts.ts'
import type { Flight } from './types.ts'

export interface Receipt {
  transactionHash: Hex
  blockNumber: Hex
  blockHash: Hex
  status: Hex
  gasUsed: Hex
}

/** One node's view of a signer, from one batch of calls. */
export interface NodeView {
  endpoint: RpcEndpoint
  head: number
  headHash: Hex
  /** How many of the signer's transactions are mined. */
  count: number
  receipts: Map<Hex, Receipt>
  /** Those of the newest signed transactions that the node has, mined or in its pool. */
  known: Set<Hex>
}

/** Asks all nodes at once. Nodes that do not answer are left out; throws when none answers. */
export async function readNodeViews(
  rpc: RpcPool,
  address: Address,
  flights: Flight[],
  recentBroadcasts: RecentBroadcasts,
  options: RequestOptions,
): Promise<NodeView[]> {
  const hashes = flights.flatMap(({ signed }) => signed.map(({ hash }) => hash))
  const newest = flights.flatMap(({ signed }) => signed.at(-1)?.hash ?? [])
  return askAll(rpc, async (endpoint) => {
    const doubted = newest.filter((hash) => !recentBroadcasts.has(endpoint, hash))
    const calls = [
      NEWEST_BLOCK,
      { method: 'eth_getTransactionCount', params: [address, 'latest'] },
      ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
      ...doubted.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
    ]
    const [block, count, ...found] = await endpoint.batch<[HeadAnswer, Hex, ...unknown[]]>(calls, options)
    const head = headIn(endpoint, block)
    const receipts = found.slice(0, hashes.length) as (Receipt | null)[]
    const lacking = new Set(doubted.filter((_, at) => found[hashes.length + at] === null))
    return {
      endpoint,
      head: hexToNumber(head.number),
      headHash: head.hash,
      count: hexToNumber(count),
      receipts: new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : []))),
      known: new Set(newest.filter((hash) => !lacking.has(hash))),
    }
  })
}

type HeadAnswer = { number: Hex; hash: Hex } | null
const NEWEST_BLOCK = { method: 'eth_getBlockByNumber', params: ['latest', false] }

function headIn({ name }: RpcEndpoint, block: HeadAnswer) {
  if (!block) throw new RpcError('refused', `${name} does not have its own newest block`)
  return block
}

/** The newest block of each node as one string: when it changes, the sender looks at the chain again. */
export const headsIn = (views: Pick<NodeView, 'endpoint' | 'headHash'>[]): string =>
  views
    .map(({ endpoint, headHash }) => `${endpoint.name} ${headHash}`)
    .toSorted()
    .join()

/** Reads that string from the nodes. */
export async function readHeads(rpc: RpcPool, options: RequestOptions): Promise<string> {
  const { method, params } = NEWEST_BLOCK
  const heads = await askAll(rpc, async (endpoint) => {
    const block = await endpoint.request<HeadAnswer>(method, params, options)
    return { endpoint, headHash: headIn(endpoint, block).hash }
  })
  return headsIn(heads)
}

/** The answers of the nodes that answered in time. Throws the error of one node when none did. */
export async function askAll<T>(rpc: RpcPool, ask: (endpoint: RpcEndpoint) => Promise<T>): Promise<T[]> {
  const results = await settleSoon(rpc.endpoints.map(ask))
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const unexpected = failures.find((failure) => !(failure instanceof RpcError))
  if (unexpected || answers.length === 0) throw unexpected ?? failures[0]
  return answers
}

/** How long to wait for the other nodes once one has answered: a node that hangs must not block the rest. */
const GRACE_MS = 1_000

/** Like `Promise.allSettled`, but leaves out the promises that are still pending after the grace period. */
export async function settleSoon<T>(promises: Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
  const settled: PromiseSettledResult<T>[] = []
  const over = new AbortController()
  const all = promises.map((promise) =>
    promise.then(
      (value) => settled.push({ status: 'fulfilled', value }),
      (reason) => settled.push({ status: 'rejected', reason }),
    ),
  )
  const grace = Promise.any(promises).then(
    () => sleep(GRACE_MS, undefined, { signal: over.signal }).catch(() => {}),
    () => Promise.all(all),
  )
  await Promise.race([Promise.all(all), grace])
  over.abort()
  return [...settled]
}

export const receiptIn = (view: NodeView, { signed }: Flight): Receipt | undefined =>
  signed.map(({ hash }) => view.receipts.get(hash)).find((receipt) => receipt !== undefined)

export const byNumber = (number: number) => ({
  method: 'eth_getBlockByNumber',
  params: [numberToHex(number), false],
})
