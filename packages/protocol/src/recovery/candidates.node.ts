import type { Candidate } from './candidate.ts'
import { candidates as portable } from './candidates.ts'

export const candidates: readonly Candidate[] = [
  { implementation: 'native', load: async () => (await import('./native.node.ts')).load() },
  ...portable,
]
