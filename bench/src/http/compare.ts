import { fire, type Load, type Shot } from './load.ts'
import type { Server } from './servers.ts'

export type Contender = {
  name: string
  server: Server
  /** What it is asked in the next round; called before the clock runs. */
  prepare: () => Promise<Load['next']>
}
/** `warmUpMs`: how long the first round takes, which does not count; a second when left out. */
export type Plan = { rounds: number; ms: number; connections: number; warmUpMs?: number }
export type Measured = Pick<Shot, 'perSecond' | 'p50Ms' | 'p99Ms'> & {
  /** Processor time of the server for one answer, in microseconds; a busy machine changes it little. */
  cpuMicros: number
}

const WARM_UP_MS = 1_000

/** The contenders take turns, and each is as good as its median round. */
export async function compare(
  contenders: readonly Contender[],
  { rounds, ms, connections, warmUpMs = WARM_UP_MS }: Plan,
): Promise<Map<string, Measured>> {
  const shots = new Map<string, Measured[]>(contenders.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round++) {
    for (const { name, server, prepare } of contenders) {
      const load = { url: server.url, next: await prepare(), ms: round === 0 ? warmUpMs : ms, connections }
      const before = server.process.cpuSeconds()
      const shot = await Promise.race([fire(load), server.process.failed])
      const cpuMicros = ((server.process.cpuSeconds() - before) * 1e6) / shot.answered
      if (round > 0) shots.get(name)?.push({ ...shot, cpuMicros })
    }
  }
  return new Map([...shots].map(([name, all]) => [name, medianOf(all)]))
}

function medianOf(shots: readonly Measured[]): Measured {
  const of = (key: keyof Measured) => median(shots.map((shot) => shot[key]))
  return { perSecond: of('perSecond'), p50Ms: of('p50Ms'), p99Ms: of('p99Ms'), cpuMicros: of('cpuMicros') }
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}
