import { smallest } from '../bigint.ts'
import type { RpcEndpoint } from '../rpc/index.ts'
import { applyFinal } from './apply.ts'
import { unwind } from './follow.ts'
import type { Head, Range } from './reader.ts'
import type { Session } from './session.ts'
import type { Checkpoint } from './types.ts'

const FIRST_WIDTH = 100
const WIDEST = 50_000
/** The target number of logs for one answer and one write. */
const LOGS_AT_ONCE = 4_000
/** How many ranges are prefetched while an earlier one is written. */
const READ_AHEAD = 2

/** Reads everything up to the newest final block, in ranges as wide as the nodes accept. */
export async function backfill(
  session: Session,
  checkpoint: Checkpoint | undefined,
  head: Head,
): Promise<Checkpoint | undefined> {
  const final = session.finalBlock(head.block)
  let at = checkpoint
  for await (const range of readAhead(
    session,
    head.endpoint,
    checkpoint ? checkpoint.number + 1n : session.startBlock,
    final,
  )) {
    if (at && range.first.parentHash !== at.hash) return unwind(session, at, head)
    at = await applyFinal(session, at, range, head)
  }
  return at
}

async function* readAhead(
  { reader, signal }: Session,
  source: RpcEndpoint,
  from: bigint,
  to: bigint,
): AsyncGenerator<Range> {
  const ahead: Promise<Range>[] = []
  let next = from
  let width = FIRST_WIDTH
  while (ahead.length || next <= to) {
    while (ahead.length <= READ_AHEAD && next <= to) {
      const end = next + BigInt(width) - 1n
      const range = reader.range(source, next, smallest(end, to))
      // The promise is awaited below; until then a rejection must not count as unhandled.
      range.catch(() => {})
      ahead.push(range)
      next = end + 1n
    }
    signal.throwIfAborted()
    const range = await ahead.shift()
    if (!range) return
    width = nextWidth(width, range)
    yield range
  }
}

/** Grows while answers are small, shrinks to what fits; a range that had to be split was too wide. */
function nextWidth(width: number, { first, last, logs, wasSplit }: Range): number {
  if (wasSplit) return Math.max(1, Math.floor(width / 2))
  const blocks = Number(last.number - first.number) + 1
  const fitting = Math.ceil((blocks * LOGS_AT_ONCE) / Math.max(logs.length, 1))
  return Math.min(Math.max(fitting, 1), width * 2, WIDEST)
}
