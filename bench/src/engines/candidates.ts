import type { Candidate } from './engine.ts'

const foreign = (file: string) => ({
  module: new URL(`../../engines/${file}`, import.meta.url),
  isForeign: true,
})
const own = (file: string) => ({ module: new URL(file, import.meta.url), isForeign: false })

/** What the others are compared with. */
export const EXACT: Candidate = {
  name: 'scan of all',
  ...own('exact.ts'),
  licence: 'MIT',
  released: 'here',
  binaries: 'none, plain JS',
}

export const CANDIDATES: readonly Candidate[] = [
  { name: 'ours', ...own('ours.ts'), licence: 'MIT', released: 'here', binaries: 'none, plain JS' },
  {
    name: 'usearch',
    ...foreign('usearch.ts'),
    licence: 'Apache-2.0',
    released: '2.26.2, 2026-09',
    binaries: 'prebuilt x64, arm64',
  },
  {
    name: 'hnswlib-node',
    ...foreign('hnswlib.ts'),
    licence: 'Apache-2.0',
    released: '3.0.0, 2024-12',
    binaries: 'compiles (C++, Python)',
  },
  {
    name: 'lancedb',
    ...foreign('lancedb.ts'),
    // On two cores the build of its text index never ends without it.
    env: { LANCE_CPU_THREADS: '4' },
    licence: 'Apache-2.0',
    // The newest whose binaries can be had for both architectures everywhere; 0.39.0 is from 2026-09.
    released: '0.31.0 (0.39.0, 2026-09)',
    binaries: 'prebuilt x64, arm64',
  },
  {
    name: 'minisearch',
    ...foreign('minisearch.ts'),
    licence: 'MIT',
    released: '7.2.0, 2025-09',
    binaries: 'none, plain JS',
  },
  {
    name: 'orama',
    ...foreign('orama.ts'),
    licence: 'Apache-2.0',
    released: '3.1.18, 2025-12',
    binaries: 'none, plain JS',
  },
  {
    name: 'postgres',
    ...own('postgres.ts'),
    licence: 'PostgreSQL',
    released: '18.4',
    binaries: 'prebuilt x64, arm64',
  },
]
