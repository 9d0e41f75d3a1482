import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { createDatabase } from '../databases.ts'
import { createParts, type Parts } from '../parts.ts'
import { report } from '../report.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { agree } from './agree.ts'
import { type Contender, ours, ponder } from './contenders.ts'
import { type Measurement, measure, type Plan } from './measure.ts'
import { installPonder } from './ponder.ts'

const HELP = `bench:index: the market's events from a node into Postgres, and how long they take

Compared, one after the other, each with a fresh database of one Postgres server (fsync on) and a node of its own:
  ours     the service as it is deployed (referrer serve), whose indexer feeds its tables
  ponder   Ponder (ponder start) with handlers that make the same writes to tables with the same keys and indexes
The node is a process that serves a recorded chain: mixed events of the contracts in blocks of 20 to 60, then live blocks of 50 events,
about one a second. Both poll it every 500 ms and take blocks 30 deep as final. At the end both must hold the same rows.

  --events N           events to catch up with (100000)
  --only ours|ponder   measure one alone
  --seed N             another market (1)
  --keep               keep the databases and the logs, and say where they are`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    events: { type: 'string', default: '100000' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    keep: { type: 'boolean', default: false },
  },
})

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main() {
  const contenders = [ours, ponder].filter(({ name }) => values.only === undefined || values.only === name)
  if (contenders.length === 0) throw new Error('--only takes ours or ponder')
  const plan: Plan = {
    seed: wholeNumber('seed'),
    events: wholeNumber('events'),
    liveBlocks: 20,
    eventsPerLiveBlock: 50,
    pollIntervalMs: 500,
    finalityDepth: 30,
  }
  await withPostgres('index', (postgres, directory) => compare(contenders, plan, postgres, directory), {
    keep: values.keep,
  })
}

async function compare(
  contenders: Contender[],
  plan: Plan,
  postgres: PostgresServer,
  directory: string,
): Promise<void> {
  const parts = createParts()
  const measurements: Measurement[] = []
  for (const contender of contenders) {
    await parts.run(contender.name, async () => {
      if (contender === ponder) await installPonder(progress)
      const databaseUrl = await createDatabase(postgres, contender.name)
      measurements.push(await measure(contender, plan, { databaseUrl, directory, progress }))
    })
  }
  progress('comparing the tables')
  await parts.run('equal rows', () => agree(measurements))
  summarise(plan, measurements, parts)
}

function summarise(plan: Plan, measurements: Measurement[], { failed }: Parts): void {
  const figures: Record<string, number> = { events: plan.events }
  const rows = measurements.map(({ contender: { name }, ...measured }) => {
    const lag = quantiles(measured.lagsMs)
    const perSecond = plan.events / measured.secondsFromFirstRequest
    const perSecondFromStart = plan.events / measured.secondsFromStart
    figures[`${name}_events_per_second`] = perSecond
    figures[`${name}_events_per_second_from_start`] = perSecondFromStart
    figures[`${name}_cpu_seconds`] = measured.cpuSeconds
    figures[`${name}_peak_bytes`] = measured.peakBytes
    figures[`${name}_head_lag_p50_ms`] = lag.p50
    figures[`${name}_head_lag_p99_ms`] = lag.p99
    figures[`${name}_head_lag_max_ms`] = lag.max
    figures[`${name}_requests`] = Object.values(measured.asked).reduce((sum, count) => sum + count, 0)
    return {
      indexer: name,
      'events/s': Math.round(perSecond),
      'with start': Math.round(perSecondFromStart),
      seconds: measured.secondsFromStart.toFixed(1),
      'CPU s': measured.cpuSeconds.toFixed(1),
      'peak MB': Math.round(measured.peakBytes / 1e6),
      'head lag p50 ms': Math.round(lag.p50),
      'p99 ms': Math.round(lag.p99),
      'max ms': Math.round(lag.max),
      requests: figures[`${name}_requests`] ?? 0,
    }
  })
  const ratio = (key: string) =>
    (figures[`ours_${key}`] ?? Number.NaN) / (figures[`ponder_${key}`] ?? Number.NaN)
  const keys =
    measurements.length === 2
      ? ['events_per_second', 'events_per_second_from_start', 'cpu_seconds', 'peak_bytes']
      : []
  const ratios = Object.fromEntries(keys.map((key) => [`${key}_ours_to_ponder`, ratio(key)]))
  report({ name: 'index', figures, ratios, rows, failed })
  for (const [key, value] of Object.entries(ratios)) console.log(`${key}: ${value.toFixed(2)}`)
}

function quantiles(values: readonly number[]): { p50: number; p99: number; max: number } {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
  return { p50: at(0.5), p99: at(0.99), max: at(1) }
}

function wholeNumber(name: 'seed' | 'events'): number {
  if (!/^[1-9]\d{0,8}$/.test(values[name])) throw new Error(`--${name} takes a whole number from 1 up`)
  return Number(values[name])
}
