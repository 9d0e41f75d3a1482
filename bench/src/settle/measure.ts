import { join } from 'node:path'
import type { LocalClient } from '@referrer/contracts/local'
import type { Process } from '../processes.ts'
import { type Audit, audit, type Trace } from './audit.ts'
import type { Contender, Place, Server } from './contenders.ts'
import { startCounter } from './counter.ts'
import { fire, type Load, type Outcome, type Shot } from './load.ts'
import type { Payment } from './payments.ts'

export type Case = Pick<Load, 'way'> & {
  /** Its name in the keys of results. */
  name: string
  title: string
  /** A block a second, or one for each transaction. */
  blocks: '1s' | 'automine'
  /** Payments of each buyer. */
  each: number
}
export type Measured = Audit & {
  perSecond: number
  /** Of the payments that were settled. */
  p50Ms: number
  p99Ms: number
  failures: number
  /** The most frequent reason of a failure. */
  failure: string | undefined
  /** Processor time of the facilitator for one settlement; without Postgres. */
  cpuMsEach: number
  /** The same of the node. */
  nodeCpuMsEach: number
}
export type Stage = Place & {
  node: Process
  /** For logs. */
  directory: string
  /** By buyer; the first of each is for the warm-up. */
  payments: Record<Trace, Payment[][]>
  /** Puts the chain back to where the shop had just opened. */
  rewind: () => Promise<void>
}

const WARM_UPS = 16
/** A closed run starts no payment after this time. */
const BEGIN_MS = 12_000
const END_MS = 45_000

/** One contender in one case, on a chain where nobody has paid yet. */
export async function measure(stage: Stage, contender: Contender, plan: Case): Promise<Measured> {
  const cpuSeconds = (server: Server) => [server.process.cpuSeconds(), stage.node.cpuSeconds()]
  const { shot, since, used } = await shoot(stage, contender, plan, cpuSeconds)
  const { outcomes, seconds } = shot
  const [cpuMs, nodeCpuMs] = used.map((seconds) => seconds * 1_000)
  const latencies = outcomes.filter(isSettled).map(({ ms }) => ms)
  latencies.sort((a, b) => a - b)
  const at = (share: number) => latencies[Math.ceil(latencies.length * share) - 1] ?? Number.NaN
  return {
    ...(await audit(stage.shop, contender.trace, { since, outcomes })),
    perSecond: latencies.length / seconds,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    failures: outcomes.length - latencies.length,
    failure: mostFrequentFailure(outcomes),
    cpuMsEach: (cpuMs ?? Number.NaN) / latencies.length,
    nodeCpuMsEach: (nodeCpuMs ?? Number.NaN) / latencies.length,
  }
}

/** How often the node is asked for one settlement, when each buyer pays once and all at the same time. */
export async function countCalls(stage: Stage, contender: Contender): Promise<number> {
  const counter = await startCounter(stage.rpcUrl)
  try {
    const plan = { name: 'calls', way: 'burst', blocks: '1s', each: 1 } as const
    const { shot, used } = await shoot({ ...stage, rpcUrl: counter.url }, contender, plan, () => [
      counter.calls(),
    ])
    return (used[0] ?? Number.NaN) / shot.outcomes.filter(isSettled).length
  } finally {
    await counter.close()
  }
}

/** `used` is by how much the gauges rose. */
async function shoot(
  stage: Stage,
  contender: Contender,
  { name, way, blocks, each }: Omit<Case, 'title'>,
  gauges: (server: Server) => number[],
): Promise<{ shot: Shot; since: bigint; used: number[] }> {
  const { client } = stage.shop.market
  const payments = stage.payments[contender.trace]
  await stage.rewind()
  const server = await contender.start(stage, join(stage.directory, `${contender.name}-${name}.log`))
  const pay = (load: Omit<Load, 'endMs'>) =>
    Promise.race([fire(server.url, { ...load, endMs: END_MS }), server.process.failed])
  try {
    const oneByOne = payments.slice(0, WARM_UPS).flatMap((own) => own.slice(0, 1))
    await pay({ way: 'closed', payments: [oneByOne], beginMs: END_MS })
    const since = await client.getBlockNumber()
    // For every contender the next block comes one second from here.
    if (blocks === '1s') await mineEverySecond(client)
    const before = gauges(server)
    const shot = await pay({
      way,
      payments: payments.map((own) => own.slice(1, 1 + each)),
      beginMs: BEGIN_MS,
    })
    return { shot, since, used: gauges(server).map((after, at) => after - (before[at] ?? 0)) }
  } finally {
    await server.process.stop()
  }
}

async function mineEverySecond(client: LocalClient): Promise<void> {
  await client.setAutomine(false)
  await client.setIntervalMining({ interval: 1 })
}

const isSettled = ({ result }: Outcome) => 'transaction' in result

function mostFrequentFailure(outcomes: readonly Outcome[]): string | undefined {
  const counts = new Map<string, number>()
  for (const { result } of outcomes) {
    if (!('failure' in result)) continue
    const [line = ''] = result.failure.split('\n')
    counts.set(line, (counts.get(line) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0]
}
