// One contender in a process of its own, so that it has its processor time, its memory and its pauses to itself.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks'
import { type Case, type ContenderName, open, ROWS } from './contenders.ts'

export interface Order {
  case: Case
  ms: number
  /** Calls under way at once. */
  parallel: number
}

export interface Round {
  calls: number
  seconds: number
  /** Of this process, not of Postgres. */
  cpuMs: number
  /** Of the event loop, beyond the resolution of the watch. */
  delayP99Ms: number
  delayMaxMs: number
  /** The longest collection of garbage, and all of them. */
  gcMaxMs: number
  gcMs: number
}

const RESOLUTION_MS = 1
const [name, url] = process.argv.slice(2) as [ContenderName, string]
const contender = open(name, url)
const collections: number[] = []
new PerformanceObserver((list) => {
  for (const { duration } of list.getEntries()) collections.push(duration)
}).observe({ entryTypes: ['gc'] })

process.on('message', async (order: Order | 'end') => {
  if (order === 'end') {
    await contender.end()
    process.disconnect()
    return
  }
  process.send?.(await run(order))
})

async function run({ case: kind, ms, parallel }: Order): Promise<Round> {
  const call = contender[kind]
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS })
  let calls = 0
  collections.length = 0
  delays.enable()
  const cpu = process.cpuUsage()
  const begun = performance.now()
  const until = begun + ms
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() < until) {
        calls += 1
        await call(1 + ((calls * 7_919) % (ROWS - 100)))
      }
    }),
  )
  const seconds = (performance.now() - begun) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  delays.disable()
  // Collections are told a moment later.
  await new Promise((resolve) => setTimeout(resolve, 20))
  const beyond = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS)
  return {
    calls,
    seconds,
    cpuMs: (user + system) / 1_000,
    delayP99Ms: beyond(delays.percentile(99)),
    delayMaxMs: beyond(delays.max),
    gcMaxMs: Math.max(0, ...collections),
    gcMs: collections.reduce((sum, duration) => sum + duration, 0),
  }
}
