import { smallest } from '../bigint.ts'
import { applyBlocks, unapply } from './apply.ts'
import type { Head } from './reader.ts'
import type { Session } from './session.ts'
import { recentBlocks } from './store.ts'
import type { Block, Checkpoint } from './types.ts'

/** The chain was reorganised below a block that counted as final. */
export class DeepReorganisationError extends Error {
  override readonly name = 'DeepReorganisationError'

  constructor(chainId: number, final: bigint) {
    super(
      `chain ${chainId} differs from what was indexed even at block ${final}, which was final: check that its RPC URLs serve this chain; ` +
        'if it was really reorganised this deep, raise its finalityDepth and index it anew',
    )
  }
}

const BLOCKS_AT_ONCE = 32
/** After this many rounds in a row in which the best node is on a fork no longer than our chain, the indexer follows that fork. */
const DOUBTS_ALLOWED = 3

/** Indexes from the checkpoint to the head, block by block. */
export async function follow(
  session: Session,
  checkpoint: Checkpoint | undefined,
  head: Head,
): Promise<Checkpoint | undefined> {
  const next = checkpoint ? checkpoint.number + 1n : session.startBlock
  if (head.block.number < next) return checkpoint && stay(session, checkpoint, head)
  session.doubts = 0
  const blocks = await nextBlocks(session, next, head)
  const [first] = blocks
  if (checkpoint && first.parentHash !== checkpoint.hash) return unwind(session, checkpoint, head)
  const logs = await session.reader.logsOf(head.endpoint, blocks)
  return applyBlocks(session, checkpoint, blocks, logs, head)
}

async function nextBlocks({ reader }: Session, next: bigint, head: Head): Promise<[Block, ...Block[]]> {
  if (head.block.number === next) return [head.block]
  const last = next + BigInt(BLOCKS_AT_ONCE) - 1n
  const [first, ...rest] = await reader.blocks(head.endpoint, next, smallest(last, head.block.number))
  if (!first) throw new Error('a reader gives at least the block it was asked for')
  return [first, ...rest]
}

/** Handles the case that the best node has nothing newer: it is at our block, or behind, or on a fork that is not longer. */
async function stay(session: Session, checkpoint: Checkpoint, head: Head): Promise<Checkpoint | undefined> {
  const isFork = head.block.hash !== checkpoint.hash && (await isOnFork(session, head))
  session.doubts = isFork ? session.doubts + 1 : 0
  if (session.doubts < DOUBTS_ALLOWED) return checkpoint
  session.doubts = 0
  return unwind(session, checkpoint, head)
}

async function isOnFork({ leadership, chainId }: Session, { block }: Head): Promise<boolean> {
  const [ours] = await recentBlocks(leadership.sql, chainId, block.number, 1)
  return ours?.number === block.number && ours.hash !== block.hash
}

/** Rolls back the blocks that the node no longer has. */
export async function unwind(
  session: Session,
  checkpoint: Checkpoint,
  head: Head,
): Promise<Checkpoint | undefined> {
  return unapply(session, checkpoint, await findAncestor(session, checkpoint, head), head)
}

/** The newest block that both the index and the node have; null when even the first one differs. */
async function findAncestor(
  { chainId, leadership, reader, startBlock }: Session,
  checkpoint: Checkpoint,
  head: Head,
): Promise<Checkpoint | null> {
  let below = smallest(checkpoint.number, head.block.number)
  for (;;) {
    const ours = await recentBlocks(leadership.sql, chainId, below, BLOCKS_AT_ONCE)
    const [newest, oldest] = [ours[0], ours.at(-1)]
    if (!newest || !oldest) break
    const theirs = await reader.blocks(head.endpoint, oldest.number, newest.number)
    const common = theirs.findLast(({ number, hash }) =>
      ours.some((block) => block.number === number && block.hash === hash),
    )
    if (common)
      return { ...checkpoint, number: common.number, hash: common.hash, timestamp: common.timestamp }
    below = oldest.number - 1n
  }
  if (checkpoint.final >= startBlock) {
    await reader.requireUncontradicted(head.endpoint, checkpoint)
    throw new DeepReorganisationError(chainId, checkpoint.final)
  }
  return null
}
