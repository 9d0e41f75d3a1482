/**
 * Follows a chain and applies its events exactly once, in order.
 *
 * Blocks older than `finalityDepth` are read in wide ranges and applied for good. Newer ones are read one by one, by hash; what they
 * write is recorded so that it can be rolled back. Checkpoint, effects and undo records are one transaction, so that
 * - a crash at any point resumes after the last block that was applied as a whole;
 * - a repeat, or a second replica that believes itself active, fails because the checkpoint is not the expected one;
 * - a reorganisation rolls back exactly the removed blocks and continues from the common ancestor;
 * - when all nodes, or the database, are down, indexing pauses and nothing is lost.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { type Leadership, lead } from '../leadership.ts'
import { RpcError } from '../rpc/index.ts'
import { backfill } from './backfill.ts'
import { follow } from './follow.ts'
import type { IndexerEvent, IndexerOptions } from './options.ts'
import { createReader } from './reader.ts'
import type { Session } from './session.ts'
import { CheckpointMovedError, noteHead, readCheckpoint } from './store.ts'

export interface IndexerStatus {
  /** Whether this process is the one that indexes the chain. */
  isActive: boolean
  head: bigint | null
  indexed: bigint | null
  error: string | null
}

export interface Indexer {
  status(): IndexerStatus
  /** Runs until the signal aborts; retries temporary failures instead of throwing. */
  run(signal: AbortSignal): Promise<void>
}

const FIRST_RETRY_MS = 200
const LONGEST_RETRY_MS = 10_000
const HEARTBEAT_MS = 2_000

export function createIndexer(options: IndexerOptions): Indexer {
  const { chainId, rpc, databaseUrl, finalityDepth, pollIntervalMs = 500 } = options
  const status: IndexerStatus = { isActive: false, head: null, indexed: null, error: null }
  let failures = 0

  function emit(event: IndexerEvent) {
    if (event.type === 'applied' || event.type === 'caught-up' || event.type === 'recovered') {
      failures = 0
      status.error = null
    }
    options.onEvent?.(event)
  }

  async function pauseAfter(error: unknown, signal: AbortSignal) {
    signal.throwIfAborted()
    const retryInMs = Math.min(FIRST_RETRY_MS * 2 ** failures, LONGEST_RETRY_MS)
    failures += 1
    const cause = error instanceof Error ? error : new Error(String(error))
    status.error = cause.message
    emit({ type: 'failed', error: cause, retryInMs })
    await sleep(retryInMs, undefined, { signal })
  }

  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const onStandby = () => {
          if (failures > 0) emit({ type: 'recovered' })
        }
        await lead({ databaseUrl, lock: `indexer:${chainId}`, signal, onStandby }, (leadership) =>
          work(leadership, signal),
        )
      } catch (error) {
        if (signal.aborted) break
        await pauseAfter(error, signal).catch(() => {})
      } finally {
        status.isActive = false
      }
    }
  }

  async function work(leadership: Leadership, signal: AbortSignal): Promise<void> {
    status.isActive = true
    emit({ type: 'active' })
    const session: Session = {
      ...options,
      leadership,
      reader: createReader(rpc, options.filter, signal),
      finalized: options.finalized ?? (async () => {}),
      emit,
      signal,
      finalBlock: ({ number }) => number - BigInt(finalityDepth),
      toldFinal: options.startBlock - 1n,
      doubts: 0,
    }
    let checkpoint = await readCheckpoint(leadership.sql, chainId)
    let writtenAt = 0
    while (!signal.aborted) {
      try {
        const before = checkpoint
        const head = await session.reader.head(checkpoint)
        status.head = head.block.number
        const next = checkpoint ? checkpoint.number + 1n : options.startBlock
        checkpoint = await (next <= session.finalBlock(head.block) ? backfill : follow)(
          session,
          checkpoint,
          head,
        )
        status.indexed = checkpoint?.number ?? null
        if (checkpoint !== before) {
          writtenAt = Date.now()
        } else if (checkpoint && Date.now() - writtenAt > HEARTBEAT_MS) {
          await noteHead(leadership.sql, chainId, checkpoint, head.block)
          writtenAt = Date.now()
        }
        const indexed = checkpoint?.number ?? options.startBlock - 1n
        if (checkpoint !== before && indexed < head.block.number) continue
        emit({ type: 'caught-up', number: head.block.number })
        await sleep(pollIntervalMs, undefined, { signal })
      } catch (error) {
        if (error instanceof RpcError) await pauseAfter(error, signal)
        else if (!(error instanceof CheckpointMovedError)) throw error
        checkpoint = await readCheckpoint(leadership.sql, chainId)
      }
    }
  }

  return { status: () => ({ ...status }), run }
}
