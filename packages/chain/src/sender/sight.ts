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
  options: RequestOptions,
): Promise<Sight[]> {
  const hashes = flights.flatMap(({ signed }) => signed.map(({ hash }) => hash))
  const newest = flights.flatMap(({ signed }) => signed.at(-1)?.hash ?? [])
  const calls = [
    { method: 'eth_blockNumber', params: [] },
    { method: 'eth_getTransactionCount', params: [address, 'latest'] },
    ...hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] })),
    ...newest.map((hash) => ({ method: 'eth_getTransactionByHash', params: [hash] })),
  ]
  return askAll(rpc, async (endpoint) => {
    const [head, count, ...found] = await endpoint.batch<[Hex, Hex, ...unknown[]]>(calls, options)
    const receipts = found.slice(0, hashes.length) as (Receipt | null)[]
    const known = newest.filter((_, at) => found[hashes.length + at] !== null)
    return {
      endpoint,
      head: hexToNumber(head),
      count: hexToNumber(count),
      receipts: new Map(receipts.flatMap((receipt) => (receipt ? [[receipt.transactionHash, receipt]] : []))),
      known: new Set(known),
    }
  })
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
