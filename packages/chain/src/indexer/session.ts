import type { Transaction } from '@referrer/database'
import type { Leadership } from '../leadership.ts'
import type { IndexerEvent, IndexerOptions } from './options.ts'
import type { ChainReader } from './reader.ts'
import type { Block } from './types.ts'

/** What the phases of indexing share. */
export interface Session {
  chainId: number
  startBlock: bigint
  apply: IndexerOptions['apply']
  leadership: Leadership
  reader: ChainReader
  finalized(tx: Transaction, number: bigint): Promise<void>
  emit(event: IndexerEvent): void
  signal: AbortSignal
  /** The newest final block, given the newest block. */
  finalBlock(head: Block): bigint
  /** The newest block that was reported as final. */
  toldFinal: bigint
  /** How often in a row the best node named a fork that is not longer than our chain. */
  doubts: number
}
