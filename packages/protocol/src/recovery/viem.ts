import { bytesToHex, hexToBytes, keccak256, recoverPublicKey } from 'viem'
import type { Primitives } from './candidate.ts'

/** Plain JavaScript throughout, for places that forbid WebAssembly (a strict content security policy). */
export async function load(): Promise<Primitives> {
  return {
    keccak256: (bytes) => keccak256(bytes, 'bytes'),
    async recoverPublicKey(hash, compact, yParity) {
      const r = bytesToHex(compact.subarray(0, 32))
      const s = bytesToHex(compact.subarray(32))
      return hexToBytes(await recoverPublicKey({ hash, signature: { r, s, yParity } }))
    },
  }
}
