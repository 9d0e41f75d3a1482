import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type Sql } from '@referrer/database'
import { run } from '../processes.ts'
import type { Contender } from './contenders.ts'
import { type Counts, type RecordedNode, startNode } from './node.ts'
import { Random } from './random.ts'
import { areTablesThere, isVisible } from './tables.ts'

export type Plan = {
  seed: number
  events: number
  liveBlocks: number
  eventsPerLiveBlock: number
  pollIntervalMs: number
  finalityDepth: number
}
export type Measurement = {
  contender: Contender
  databaseUrl: string
  /** Until the last event could be seen: from the start of the process, and from its first question to the node. */
  secondsFromStart: number
  secondsFromFirstRequest: number
  /** Processor time of the indexer alone, to the same moment. */
  cpuSeconds: number
  peakBytes: number
  /** Of each live block, from when the node had it until its rows could be seen. */
  lagsMs: number[]
  asked: Counts
  counts: Counts
}

const BACKFILL_POLL_MS = 50
const HEAD_POLL_MS = 20

/** Runs one contender on a node and a database of its own: all that was recorded, then live blocks, about one a second. */
export async function measure(
  contender: Contender,
  plan: Plan,
  {
    databaseUrl,
    directory,
    progress,
  }: { databaseUrl: string; directory: string; progress(line: string): void },
): Promise<Measurement> {
  const { name } = contender
  progress(`${name}: recording ${plan.events.toLocaleString('en')} events`)
  const node = await startNode({ ...plan, logFile: join(directory, `${name}-node.log`) })
  const sql = connect(databaseUrl, { max: 4, name: 'bench' })
  try {
    const { counts } = await node.state()
    progress(`${name}: indexing`)
    const startedAt = now()
    const command = contender.command({ ...plan, databaseUrl, rpcUrl: node.url })
    const indexer = run(name, command, join(directory, `${name}.log`))
    try {
      const work = async (): Promise<Measurement> => {
        while (!(await areTablesThere(sql, contender))) await sleep(BACKFILL_POLL_MS)
        const seenAt = await seen(sql, contender, counts, BACKFILL_POLL_MS)
        const cpuSeconds = indexer.cpuSeconds()
        const { firstRequestAt } = await node.state()
        const secondsFromStart = (seenAt - startedAt) / 1_000
        progress(`${name}: ${secondsFromStart.toFixed(1)} s; now ${plan.liveBlocks} live blocks`)
        const lagsMs = await follow(sql, contender, node, plan)
        const state = await node.state()
        return {
          contender,
          databaseUrl,
          secondsFromStart,
          secondsFromFirstRequest: (seenAt - (firstRequestAt ?? startedAt)) / 1_000,
          cpuSeconds,
          peakBytes: indexer.peakBytes(),
          lagsMs,
          asked: state.asked,
          counts: state.counts,
        }
      }
      return await Promise.race([work(), indexer.failed, node.process.failed])
    } finally {
      await indexer.stop()
    }
  } finally {
    await sql.end({ timeout: 5 })
    await node.process.stop()
  }
}

/** Blocks come at random moments of their second, so that they meet the indexer's polling at every phase. */
async function follow(sql: Sql, contender: Contender, node: RecordedNode, plan: Plan): Promise<number[]> {
  const random = new Random(plan.seed)
  const start = now()
  const lags: Promise<number>[] = []
  for (let second = 0; second < plan.liveBlocks; second++) {
    const due = start + second * 1_000 + random.below(900)
    await sleep(Math.max(0, due - now()))
    const { at, counts } = await node.append(plan.eventsPerLiveBlock)
    lags.push(seen(sql, contender, counts, HEAD_POLL_MS).then((seenAt) => seenAt - at))
  }
  return Promise.all(lags)
}

async function seen(sql: Sql, contender: Contender, counts: Counts, pollMs: number): Promise<number> {
  while (!(await isVisible(sql, contender, counts))) await sleep(pollMs)
  return now()
}

/** Comparable with the node's own clock, which is another process's. */
function now(): number {
  return performance.timeOrigin + performance.now()
}
