import { largest, smallest } from '../bigint.ts'
import type { Head, Range } from './reader.ts'
import type { Session } from './session.ts'
import { enterBlock, forgetHistory, moveCheckpoint, rememberBlocks, rollBack } from './store.ts'
import type { Block, Checkpoint, Log } from './types.ts'

/** Applies final blocks: one write for all of them, without undo records. */
export async function applyFinal(
  session: Session,
  from: Checkpoint | undefined,
  { first, last, logs }: Range,
  head: Head,
): Promise<Checkpoint> {
  const { chainId, leadership, apply, emit } = session
  const to = { number: last.number, hash: last.hash, timestamp: last.timestamp, final: last.number }
  await leadership.transaction(async (tx) => {
    await moveCheckpoint(tx, chainId, from, to, head.block)
    await enterBlock(tx, null)
    if (logs.length) await apply(tx, logs, true)
    await forgetHistory(tx, chainId, to.final)
    await rememberBlocks(tx, chainId, [last])
  })
  emit({ type: 'applied', from: first.number, to: to.number, logs: logs.length, isFinal: true })
  return to
}

/** Applies blocks that a reorganisation may remove: undo records keep the effects of each by its number. */
export async function applyBlocks(
  session: Session,
  from: Checkpoint | undefined,
  blocks: [Block, ...Block[]],
  logs: Log[],
  head: Head,
): Promise<Checkpoint> {
  const { chainId, leadership, apply, finalized, emit, startBlock } = session
  const last = blocks.at(-1) ?? blocks[0]
  const before = from?.final ?? startBlock - 1n
  const final = largest(before, smallest(session.finalBlock(head.block), last.number))
  const to = { number: last.number, hash: last.hash, timestamp: last.timestamp, final }
  // A log of a removed block may appear again in a later one, so the callback runs only after all blocks were read.
  const isToTell = final > session.toldFinal && last.number === head.block.number
  await leadership.transaction(async (tx) => {
    await moveCheckpoint(tx, chainId, from, to, head.block)
    for (const block of blocks) {
      const own = logs.filter(({ blockHash }) => blockHash === block.hash)
      if (own.length === 0) continue
      await Promise.all([enterBlock(tx, block.number), apply(tx, own, false)])
    }
    await rememberBlocks(tx, chainId, blocks)
    if (final > before) await forgetHistory(tx, chainId, final)
    if (isToTell) {
      await enterBlock(tx, null)
      await finalized(tx, final)
    }
  })
  if (isToTell) session.toldFinal = final
  emit({ type: 'applied', from: blocks[0].number, to: to.number, logs: logs.length, isFinal: false })
  return to
}

/** Rolls back every block after `ancestor`; null rolls back all. */
export async function unapply(
  session: Session,
  from: Checkpoint,
  ancestor: Checkpoint | null,
  head: Head,
): Promise<Checkpoint | undefined> {
  await session.leadership.transaction((tx) => rollBack(tx, session.chainId, from, ancestor, head.block))
  session.emit({ type: 'rolled-back', from: from.number, to: ancestor?.number ?? null })
  return ancestor ?? undefined
}
