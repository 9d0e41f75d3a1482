import { setTimeout as sleep } from 'node:timers/promises'
import { type Address, type Hex, hexToNumber, numberToHex } from 'viem'
import { type RequestOptions, type RpcEndpoint, RpcError, type RpcPool } from '../rpc/index.ts'
import type { Flight } from './types.ts'

export interface Receipt {
  transactionHash: Hex
  blockNumber: Hex
  blockHash: Hex
  status: Hex
  gasUsed: Hex
}

/** What one node, in one answer, says about a signer. */
export interface Sight {
  endpoint: RpcEndpoint
  head: number
  headHash: Hex
  /** How many of the signer's transactions are mined. */
  count: number
  receipts: Map<Hex, Receipt>
  /** Those of the newest signed transactions that it has, mined or waiting. */
  known: Set<Hex>
}

/** Asks every node at once. The ones that do not answer are left out; when none does, it throws. */
export async function look(
  rpc: RpcPool,
  address: Address,
  flights: Flight[],
  handed: Handed,
  options: RequestOptions,
): Promise<Sight[]> {
  const hashes = flights.flatMap(({ signed }) => signed.map(({ hash }) => hash))
  const newest = flights.flatMap(({ signed }) => signed.at(-1)?.hash ?? [])
  return askAll(rpc, async (endpoint) => {
    const doubted = newest.filter((hash) => !handed.isFresh(endpoint, hash))
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

/** What nodes were given a moment ago. */
export interface Handed {
  note(endpoint: RpcEndpoint, hash: Hex): void
  isFresh(endpoint: RpcEndpoint, hash: Hex): boolean
}

/** To ask a node at once whether it still has what it just took is of no use, and the answer is as long as the transaction. */
const FRESH_MS = 1_000

export function createHanded(): Handed {
  const times = new Map<string, number>()
  const nameOf = ({ name }: RpcEndpoint, hash: Hex) => `${name} ${hash}`
  const isOld = (time: number) => performance.now() - time >= FRESH_MS
  return {
    note(endpoint, hash) {
      for (const [name, time] of times) if (isOld(time)) times.delete(name)
      times.set(nameOf(endpoint, hash), performance.now())
    },
    isFresh(endpoint, hash) {
      const time = times.get(nameOf(endpoint, hash))
      return time !== undefined && !isOld(time)
    },
  }
}

type HeadAnswer = { number: Hex; hash: Hex } | null
const NEWEST_BLOCK = { method: 'eth_getBlockByNumber', params: ['latest', false] }

function headIn({ name }: RpcEndpoint, block: HeadAnswer) {
  if (!block) throw new RpcError('refused', `${name} does not have its own newest block`)
  return block
}

/** The newest block of each node, in one text: another text means that there may be something new to see. */
export const headsIn = (sights: Pick<Sight, 'endpoint' | 'headHash'>[]): string =>
  sights
    .map(({ endpoint, headHash }) => `${endpoint.name} ${headHash}`)
    .toSorted()
    .join()

/** The same, asked for. */
export async function readHeads(rpc: RpcPool, options: RequestOptions): Promise<string> {
  const { method, params } = NEWEST_BLOCK
  const heads = await askAll(rpc, async (endpoint) => {
    const block = await endpoint.request<HeadAnswer>(method, params, options)
    return { endpoint, headHash: headIn(endpoint, block).hash }
  })
  return headsIn(heads)
}

/** The answers of those that answered; the error of one when none did. */
export async function askAll<T>(rpc: RpcPool, ask: (endpoint: RpcEndpoint) => Promise<T>): Promise<T[]> {
  const results = await settleSoon(rpc.endpoints.map(ask))
  const answers = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const failures = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  const unexpected = failures.find((failure) => !(failure instanceof RpcError))
  if (unexpected || answers.length === 0) throw unexpected ?? failures[0]
  return answers
}

/** How long the others are waited for once one has answered: a node that hangs must not stop the rest. */
const GRACE_MS = 1_000

/** How the promises ended that ended in time. */
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

export const receiptIn = (sight: Sight, { signed }: Flight): Receipt | undefined =>
  signed.map(({ hash }) => sight.receipts.get(hash)).find((receipt) => receipt !== undefined)

export const byNumber = (number: number) => ({
  method: 'eth_getBlockByNumber',
  params: [numberToHex(number), false],
})
