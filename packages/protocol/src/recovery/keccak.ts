import { createKeccak } from 'hash-wasm'

/** One hasher serves everybody: each use runs from `init` to `digest` without yielding. */
export async function loadKeccak256(): Promise<(bytes: Uint8Array) => Uint8Array> {
  const hasher = await createKeccak(256)
  return (bytes) => hasher.init().update(bytes).digest('binary')
}
