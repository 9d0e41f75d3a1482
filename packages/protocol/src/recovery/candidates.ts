import type { Candidate } from './candidate.ts'

/** Fastest first. This list is for browsers and edge runtimes; `candidates.node.ts` puts the native addon before it. */
export const candidates: readonly Candidate[] = [
  { implementation: 'wasm', load: async () => (await import('./wasm.ts')).load() },
  { implementation: 'viem', load: async () => (await import('./viem.ts')).load() },
]
