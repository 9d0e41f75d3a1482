// The package's root would start five WebAssembly modules; only this one is needed.
import { instantiateSecp256k1 } from '@bitauth/libauth/build/lib/crypto/secp256k1.js'
import type { Primitives } from './candidate.ts'
import { loadKeccak256 } from './keccak.ts'

export async function load(): Promise<Primitives> {
  const curve = await instantiateSecp256k1()
  return {
    keccak256: await loadKeccak256(),
    recoverPublicKey(hash, compact, yParity) {
      const key = curve.recoverPublicKeyUncompressed(compact, yParity, hash)
      if (typeof key === 'string') throw new Error(key)
      return key
    },
  }
}
