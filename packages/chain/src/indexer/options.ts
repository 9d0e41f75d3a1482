import type { Transaction } from '@referrer/database'
import type { RpcPool } from '../rpc/index.ts'
import type { Log, LogFilter } from './types.ts'

export interface IndexerOptions {
  chainId: number
  rpc: RpcPool
  databaseUrl: string
  filter: LogFilter
  /** No event is older than this block. */
  startBlock: bigint
  /** A block this many below the newest counts as final. */
  finalityDepth: number
  pollIntervalMs?: number
  /** Writes the effects of these logs, which are in order. They are of one block, or of several that are all final. */
  apply(tx: Transaction, logs: Log[], isFinal: boolean): Promise<void>
  /** Called when all blocks up to this one are final and applied; after a restart once more. */
  finalized?(tx: Transaction, number: bigint): Promise<void>
  onEvent?: ((event: IndexerEvent) => void) | undefined
}

export type IndexerEvent =
  | { type: 'active' }
  | { type: 'applied'; from: bigint; to: bigint; logs: number; isFinal: boolean }
  | { type: 'rolled-back'; from: bigint; to: bigint | null }
  | { type: 'caught-up'; number: bigint }
  | { type: 'failed'; error: Error; retryInMs: number }
  /** After a failure this process waits while another one indexes the chain. */
  | { type: 'recovered' }
