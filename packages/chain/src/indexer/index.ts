export { DeepReorganisationError } from './follow.ts'
export {
  createIndexer,
  type Indexer,
  type IndexerEvent,
  type IndexerOptions,
  type IndexerStatus,
} from './indexer.ts'
export { forgetChain, type IndexerHealth, indexerHealth } from './store.ts'
export type { Log, LogFilter } from './types.ts'
