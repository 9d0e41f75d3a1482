import { createRequire } from 'node:module'
import type { Primitives } from './candidate.ts'
import { loadKeccak256 } from './keccak.ts'

type Addon = {
  ecdsaRecover(signature: Uint8Array, recoveryId: number, hash: Uint8Array, compressed: boolean): Uint8Array
}

export async function load(): Promise<Primitives> {
  // The package's main entry swaps in a slow JavaScript curve when the addon is missing; its bindings throw instead.
  const addon: Addon = createRequire(import.meta.url)('secp256k1/bindings.js')
  return {
    keccak256: await loadKeccak256(),
    recoverPublicKey: (hash, compact, yParity) => addon.ecdsaRecover(compact, yParity, hash, false),
  }
}
