import type { MigrationSet } from '@referrer/database'

export { compileEvent, type EventDecoder } from './event-decoder.ts'
export * from './indexer/index.ts'
export { type Leadership, lead } from './leadership.ts'
export * from './rpc/index.ts'
export * from './sender/index.ts'

/** The tables that the indexer and the sender keep. */
export const chainMigrations: MigrationSet = {
  name: 'chain-engine',
  directory: new URL('../migrations/', import.meta.url),
}
