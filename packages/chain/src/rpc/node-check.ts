import { type Address, type Hex, numberToHex } from 'viem'
import type { RpcEndpoint } from './endpoint.ts'
import { RpcError } from './error.ts'
import type { RpcPool } from './pool.ts'

export interface NodeCheckOptions {
  rpc: RpcPool
  /** By name; each has code on the right chain. */
  contracts: Readonly<Record<string, Address | readonly Address[]>>
  /** Age of the newest block from which on the nodes count as stalled; undefined disables the check. */
  maxHeadAgeSeconds?: number | undefined
  timeoutMs?: number
  /** Milliseconds since 1970. */
  clock?: () => number
}

/** Block that the caller knows to be final. */
export interface KnownBlock {
  number: bigint
  hash: Hex
}

export interface NodeAnswers {
  /** What cannot be right: no program may work with such answers. Each says what to do. */
  wrong: string[]
  /** Nodes that fail or serve another chain while others can be used. */
  notes: string[]
}

export type NodeCheck = (known?: KnownBlock) => Promise<NodeAnswers>

/** Asks the nodes of a chain whether they serve it, have its contracts and go on. A node that does not answer is no wrong answer. */
export function createNodeCheck({
  rpc,
  contracts,
  maxHeadAgeSeconds,
  timeoutMs = 1_000,
  clock = Date.now,
}: NodeCheckOptions): NodeCheck {
  const options = { timeoutMs }
  /** Contracts do not go away, so each is looked for until it was found once. */
  const missing = new Map(
    Object.entries(contracts).flatMap(([name, at]) =>
      [at].flat().map((address) => [address as Address, name]),
    ),
  )

  async function checkContracts(): Promise<string[]> {
    const found = [...missing].map(async ([address, name]) => {
      const code = await rpc.request<Hex>('eth_getCode', [address, 'latest'], options)
      if (code !== '0x') missing.delete(address)
      return code === '0x'
        ? [`chain ${rpc.chainId} has no contract at ${address}: correct contracts.${name}, or the nodes`]
        : []
    })
    return (await Promise.all(found)).flat()
  }

  async function checkHead(): Promise<string[]> {
    if (maxHeadAgeSeconds === undefined) return []
    const head = await rpc.request<{ timestamp: Hex } | null>(
      'eth_getBlockByNumber',
      ['latest', false],
      options,
    )
    const age = clock() / 1_000 - Number(head?.timestamp ?? 0)
    return age > maxHeadAgeSeconds
      ? [
          `the newest block of its nodes is ${Math.round(age)} s old: they have stopped, name others in rpcUrls`,
        ]
      : []
  }

  async function checkKnown(known: KnownBlock): Promise<string[]> {
    const id = numberToHex(known.number)
    const block = await rpc.request<{ hash: Hex } | null>('eth_getBlockByNumber', [id, false], options)
    // A node that lags does not have the block yet.
    return block && block.hash !== known.hash
      ? [
          `its nodes have another block ${known.number} than the records, where it is final: they serve another chain, or a fork of it`,
        ]
      : []
  }

  /** Kept while no node answers: silence does not make a wrong answer right. */
  let lastWrong: string[] = []

  return async (known) => {
    const served = await Promise.all(rpc.endpoints.map((endpoint) => askChain(endpoint, options)))
    const notes = served.flatMap((error) => error?.message ?? [])
    if (served.every((error) => error !== undefined)) {
      if (served.some((error) => error?.kind === 'wrong-chain')) lastWrong = notes
      return { wrong: lastWrong, notes: notes.filter((note) => !lastWrong.includes(note)) }
    }
    const checks = await Promise.allSettled([checkContracts(), checkHead(), known ? checkKnown(known) : []])
    const silent = checks.flatMap((check) => (check.status === 'rejected' ? messageOf(check.reason) : []))
    const found = checks.flatMap((check) => (check.status === 'fulfilled' ? check.value : []))
    if (found.length > 0 || silent.length === 0) lastWrong = found
    return { wrong: lastWrong, notes: [...notes, ...silent] }
  }
}

async function askChain(
  endpoint: RpcEndpoint,
  options: { timeoutMs: number },
): Promise<RpcError | undefined> {
  try {
    await endpoint.request('eth_chainId', [], options)
    return undefined
  } catch (error) {
    if (error instanceof RpcError) return error
    throw error
  }
}

const messageOf = (reason: unknown) => (reason instanceof Error ? reason.message : String(reason))
