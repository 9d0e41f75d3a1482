import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect, migrate, startPostgres } from '@referrer/database'
import { limitsMigrations } from '@referrer/process'
import { report } from '../report.ts'
import { type Contender, openContenders, type Take } from './contenders.ts'

const AT_ONCE = 64

const HELP = `bench:limits: what a rate limit costs a request

Our limiter in memory, over Postgres (embedded), beside one question for each request.
  strangers    every request is of another client, so that each needs the store
  regulars     20 clients within their limits, for whom tokens are taken ahead
${AT_ONCE} requests at once. CPU is that of this process, without the store.

  --rounds <n>  how often each has its turn (default 3)
  --ms <n>      how long a turn takes (default 1500)`

const WARM_UP_MS = 300

const WORKLOADS = {
  strangers: { rate: { perSecond: 50, burst: 100 }, clientOf: (sent: number) => `stranger ${sent}` },
  regulars: {
    rate: { perSecond: 100_000, burst: 100 },
    clientOf: (sent: number) => `regular ${sent % 20}`,
  },
}
type Workload = keyof typeof WORKLOADS

interface Round {
  takes: number
  seconds: number
  cpuMs: number
  p50Ms: number
  p99Ms: number
}

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    rounds: { type: 'string', default: '3' },
    ms: { type: 'string', default: '1500' },
  },
})

if (values.help) console.log(HELP)
else await main(Number(values.rounds), Number(values.ms))

async function main(rounds: number, ms: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-limits-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const server = await startPostgres({ directory: join(directory, 'postgres') })
  try {
    const sql = connect(server.url, { max: 1 })
    await migrate(sql, [limitsMigrations])
    await sql.end()
    const contenders = await openContenders(server.url)
    const measured = await measure(contenders, rounds, ms)
    for (const each of contenders) await each.close()
    tell(contenders, measured)
  } finally {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

function nameOf(workload: string, contender: string): string {
  return `${workload}, ${contender}`
}

async function measure(contenders: Contender[], rounds: number, ms: number): Promise<Map<string, Round[]>> {
  const measured = new Map<string, Round[]>()
  for (const workload of Object.keys(WORKLOADS) as Workload[]) {
    const { rate, clientOf } = WORKLOADS[workload]
    let sent = 0
    const next = () => clientOf(sent++)
    const takes = contenders.map((each) => ({ name: each.name, take: each.limiter(rate) }))
    for (const { take } of takes) await run(take, next, WARM_UP_MS)
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, take } of takes) {
        const key = nameOf(workload, name)
        measured.set(key, [...(measured.get(key) ?? []), await run(take, next, ms)])
      }
    }
  }
  return measured
}

/** Takes for a while, so many at once; as in a server, each begins in a turn of its own of the event loop. */
async function run(take: Take, next: () => string, ms: number): Promise<Round> {
  const waits: number[] = []
  const cpu = process.cpuUsage()
  const startedAt = performance.now()
  const endsAt = startedAt + ms
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      while (performance.now() < endsAt) {
        await new Promise(setImmediate)
        const askedAt = performance.now()
        await take(next())
        waits.push(performance.now() - askedAt)
      }
    }),
  )
  const { user, system } = process.cpuUsage(cpu)
  const sorted = waits.toSorted((a, b) => a - b)
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN
  return {
    takes: waits.length,
    seconds: (performance.now() - startedAt) / 1_000,
    cpuMs: (user + system) / 1_000,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
  }
}

function summarize(rounds: Round[]) {
  const middle = (of: (round: Round) => number) =>
    rounds.map(of).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN
  return {
    perSecond: middle(({ takes, seconds }) => takes / seconds),
    cpuMicros: middle(({ takes, cpuMs }) => (cpuMs * 1_000) / takes),
    p50Ms: middle(({ p50Ms }) => p50Ms),
    p99Ms: middle(({ p99Ms }) => p99Ms),
  }
}

function tell(contenders: Contender[], measured: Map<string, Round[]>): void {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  for (const workload of Object.keys(WORKLOADS)) {
    const of = (name: string) => summarize(measured.get(nameOf(workload, name)) ?? [])
    for (const { name, beside } of contenders) {
      const each = of(name)
      for (const [key, value] of Object.entries(each)) figures[`${nameOf(workload, name)}: ${key}`] = value
      const ratio = beside && each.perSecond / of(beside).perSecond
      if (ratio) ratios[`${workload}, ${name} to one question a request`] = ratio
      rows.push({
        clients: workload,
        limiter: name,
        'requests/s': Math.round(each.perSecond).toLocaleString('en'),
        'to one question each': ratio ? ratio.toFixed(1) : '',
        'CPU µs': each.cpuMicros.toFixed(1),
        'p50 ms': each.p50Ms.toFixed(2),
        'p99 ms': each.p99Ms.toFixed(2),
      })
    }
  }
  report({ name: 'limits', figures, ratios, rows })
}
