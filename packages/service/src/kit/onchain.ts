// Direct reads of contracts, for checks that must see the current state. Lists read the indexed tables, which may lag behind.
import { RpcError, readContract } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { type Chain, type Context, oncePerProcess } from './context.ts'

/** Time limit for a read whose result is optional in the answer, unless the chain has another one. */
const OPTIONAL_READ_MS = 1_000
/** Size limit for an identity's URI in bytes. An agent card in a data URL fits; longer ones would make lists too large. */
export const LONGEST_URI = 8_192
/** How long a read is retried unless told otherwise, because a node may lag behind the node that accepted the caller's transaction. */
const REREAD_FOR_MS = 3_000
const REREAD_EVERY_MS = 200

/** The value that `read` returns, or undefined when the read fails or times out. */
export async function bestEffort<T>(
  { optionalReadMs: timeoutMs = OPTIONAL_READ_MS }: Pick<Chain, 'optionalReadMs'>,
  read: (options: { timeoutMs: number }) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withTimeout(timeoutMs, read({ timeoutMs }))
  } catch {
    return undefined
  }
}

/** Limit for concurrent retries: requests for things that do not exist must not use up the nodes' rate limit, which the indexer shares. */
const MAX_REREADING = 32
const rereading = oncePerProcess(() => ({ count: 0 }))

/**
 * Repeats a read until the value satisfies `holds` or the time is over, and returns the last value in both cases. While too many calls
 * are retrying, a further call reads only once.
 */
export async function reread<T>(
  context: Context,
  read: () => Promise<T>,
  holds: (value: T) => boolean,
  forMs = REREAD_FOR_MS,
): Promise<T> {
  const others = rereading(context)
  const until = performance.now() + forMs
  let value = await read()
  if (others.count >= MAX_REREADING) return value
  others.count += 1
  try {
    while (!holds(value) && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, REREAD_EVERY_MS))
      value = await read()
    }
    return value
  } finally {
    others.count -= 1
  }
}

/** The owner of an agent's identity; undefined when the identity does not exist. */
export async function ownerOf(chain: Chain, agentId: bigint): Promise<Address | undefined> {
  try {
    return await readContract(chain, {
      address: chain.config.contracts.IdentityRegistry,
      abi: identityRegistryAbi,
      functionName: 'ownerOf',
      args: [agentId],
    })
  } catch (error) {
    if (error instanceof RpcError && error.kind === 'reverted') return undefined
    throw error
  }
}

/** The `tokenURI` of an agent's identity; undefined when it is empty, too long, or cannot be read in time. */
export async function identityUri(chain: Chain, agentId: bigint): Promise<string | undefined> {
  const read = {
    address: chain.config.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'tokenURI',
    args: [agentId],
  } as const
  const uri = await bestEffort(chain, (options) => readContract(chain, read, options))
  if (!uri || Buffer.byteLength(uri) > LONGEST_URI) return undefined
  // The URI can be any text, and Postgres stores neither NUL characters nor lone surrogates.
  return uri.toWellFormed().replaceAll('\0', '') || undefined
}
