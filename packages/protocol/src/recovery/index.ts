import { type Address, bytesToHex, checksumAddress } from 'viem'
import { candidates } from '#recovery'
import { ProtocolError } from '../error.ts'
import * as Signature from '../signature.ts'
import type { Candidate, Implementation, Primitives } from './candidate.ts'

export type { Implementation } from './candidate.ts'

export type Recovery = {
  implementation: Implementation
  keccak256(bytes: Uint8Array): Uint8Array
  /** Who signed these 32 bytes: a checksummed address. */
  recoverAddress(hash: Uint8Array, signature: unknown): Promise<Address>
}

const loaded = new Map<Implementation | 'fastest', Promise<Recovery>>()

/**
 * The fastest implementation that runs here, loaded once; or exactly the one that is named.
 *
 * @example
 * ```ts
 * import { Recovery } from '@referrer/protocol'
 *
 * const recovery: Recovery.Recovery = await Recovery.load()
 * const fastest: Recovery.Implementation = recovery.implementation
 * export const told = `signers are recovered by ${fastest}`
 * ```
 */
export function load(only?: Implementation): Promise<Recovery> {
  const key = only ?? 'fastest'
  let recovery = loaded.get(key)
  if (!recovery) {
    recovery = first(candidates.filter(({ implementation }) => !only || implementation === only))
    loaded.set(key, recovery)
  }
  return recovery
}

async function first(wanted: readonly Candidate[]): Promise<Recovery> {
  const causes: unknown[] = []
  for (const { implementation, load } of wanted) {
    try {
      return from(implementation, await load())
    } catch (cause) {
      causes.push(cause)
    }
  }
  throw new ProtocolError(
    'recovery_unavailable',
    'this signer recovery does not run here; load another one',
    {
      cause: new AggregateError(causes),
    },
  )
}

function from(implementation: Implementation, { keccak256, recoverPublicKey }: Primitives): Recovery {
  return {
    implementation,
    keccak256,
    async recoverAddress(hash, signature) {
      const { compact, yParity } = Signature.parse(signature)
      if (hash.length !== 32) {
        throw new ProtocolError(
          'invalid_hash',
          `a signature covers 32 bytes, not ${hash.length}; hash the message first`,
        )
      }
      let publicKey: Uint8Array
      try {
        publicKey = await recoverPublicKey(hash, compact, yParity)
      } catch (cause) {
        throw new ProtocolError(
          'unrecoverable_signature',
          'no signer can be recovered; sign the message again',
          {
            cause,
          },
        )
      }
      return checksumAddress(bytesToHex(keccak256(publicKey.subarray(1)).subarray(12)))
    },
  }
}
