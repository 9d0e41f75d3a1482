import { createKeccak } from 'hash-wasm'

/** All callers share one hasher, because each use runs from `init` to `digest` without yielding. */
export async function loadKeccak256(): Promise<(bytes: Uint8Array) => Uint8Array> {
  const hasher = await createKeccak(256)
  return (bytes) => hasher.init().update(bytes).digest('binary')
}
