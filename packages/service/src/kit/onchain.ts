// Reads of contracts, as they are now. The records are what lists show; these are for what must not be late.
import { RpcError, readContract } from '@referrer/chain'
import { withTimeout } from '@referrer/process'
import { identityRegistryAbi } from '@referrer/protocol/abi'
import type { Address } from 'viem'
import { type Chain, type Context, once } from './context.ts'

/** How long something that is only shown when it is there may be waited for. */
export const BEST_EFFORT_MS = 1_000
/** In bytes. A card inside a data URL fits; what does not would make lists of thousands too long. */
export const LONGEST_URI = 8_192
/** A node may lag behind the one that the caller's own transaction went to. */
const REREAD_FOR_MS = 3_000
const REREAD_EVERY_MS = 200

/** What it reads, or undefined: when it cannot, or not in time. */
export async function bestEffort<T>(
  read: (options: { timeoutMs: number }) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await withTimeout(BEST_EFFORT_MS, read({ timeoutMs: BEST_EFFORT_MS }))
  } catch {
    return undefined
  }
}

/** Nodes limit how much they are asked, and the indexer asks the same ones: what does not exist must not use that up. */
const MOST_REREADING = 32
const rereading = once(() => ({ count: 0 }))

/**
 * Reads again for a while until what is read `holds`; then the last of it, whether it holds or not. While very many do, whoever comes
 * next reads once.
 */
export async function reread<T>(
  context: Context,
  read: () => Promise<T>,
  holds: (value: T) => boolean,
): Promise<T> {
  const others = rereading(context)
  const until = performance.now() + REREAD_FOR_MS
  let value = await read()
  if (others.count >= MOST_REREADING) return value
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

/** Undefined: there is no such identity. */
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

/** What an identity says of itself, best-effort. Undefined: it says nothing, cannot be read now, or says too much. */
export async function identityUri(chain: Chain, agentId: bigint): Promise<string | undefined> {
  const read = {
    address: chain.config.contracts.IdentityRegistry,
    abi: identityRegistryAbi,
    functionName: 'tokenURI',
    args: [agentId],
  } as const
  const uri = await bestEffort((options) => readContract(chain, read, options))
  if (!uri || Buffer.byteLength(uri) > LONGEST_URI) return undefined
  // Anybody may write anything there, and Postgres has neither the character zero nor half a character.
  return uri.toWellFormed().replaceAll('\0', '') || undefined
}
