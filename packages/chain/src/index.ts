import type { MigrationSet } from '@referrer/database'

export * from './indexer/index.ts'
export * from './rpc/index.ts'

/** The tables that the indexer and the sender keep. */
export const chainMigrations: MigrationSet = {
  name: 'chain-engine',
  directory: new URL('../migrations/', import.meta.url),
}
