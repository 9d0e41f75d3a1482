export type Implementation = 'native' | 'wasm' | 'viem'

export type Primitives = {
  keccak256(bytes: Uint8Array): Uint8Array
  /** The uncompressed public key (65 bytes); throws where no key fits. The signature's ranges were checked before. */
  recoverPublicKey(hash: Uint8Array, compact: Uint8Array, yParity: 0 | 1): Uint8Array | Promise<Uint8Array>
}

export type Candidate = {
  implementation: Implementation
  /** Rejects where this machine cannot run the implementation. */
  load(): Promise<Primitives>
}
