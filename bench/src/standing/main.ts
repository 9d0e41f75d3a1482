import { monitorEventLoopDelay } from 'node:perf_hooks'
import { parseArgs } from 'node:util'
import type { PostgresServer, Sql } from '@referrer/database'
import { ROUNDS } from '@referrer/ranking'
import type { Chain, Context } from '@referrer/service'
import { followOnce, standingFollower } from '@referrer/service/testing'
import { report } from '../report.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { CHAIN_ID, createFilled, NOW } from './fill.ts'
import { beginPlainly, countDifferent, walkPlainly } from './plain.ts'

const HELP = `bench:standing: what the standings of a day cost with 1,000,000 owners who bought at ten shops each

Compared, on Postgres with fsync on:
  ours    entries are copied into arrays, a thread walks over them, and changed standings are copied back, in one transaction
  plain   the same walk in SQL, on temporary tables; one round of ${ROUNDS} is timed and multiplied, and the result is not written
Half of the 20,000 shops are verified. On a small market it is checked that both have the same result, to the last digit.
Memory is the highest of the process, Postgres not included. The delay is that of the event loop: how long a request could have waited.

  --owners <number>, --shops <number>   other sizes`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    owners: { type: 'string', default: '1000000' },
    shops: { type: 'string', default: '20000' },
  },
})
const SMALL = { owners: 2_000, shops: 200 }
const DAY_MS = 86_400_000

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const size = { owners: Number(values.owners), shops: Number(values.shops) }
  if (!Object.values(size).every((each) => Number.isSafeInteger(each) && each >= 100))
    throw new Error('--owners and --shops take numbers from 100 on')
  await withPostgres(
    'standing',
    async (postgres) => {
      await withFilled(postgres, SMALL, check)
      await withFilled(postgres, size, (sql) => measure(sql, size.owners))
    },
    // As for ranks: else the size of the cache is measured.
    { settings: { shared_buffers: '2GB' } },
  )
}

async function withFilled(
  postgres: PostgresServer,
  size: typeof SMALL,
  work: (sql: Sql) => Promise<void>,
): Promise<void> {
  progress(`filling ${size.owners.toLocaleString('en')} owners`)
  const sql = await createFilled(postgres, size)
  try {
    await work(sql)
  } finally {
    await sql.end()
  }
}

/** Both ways must have the same result: else something else would be measured. */
async function check(sql: Sql): Promise<void> {
  await makePass(sql)
  await beginPlainly(sql)
  for (let round = 0; round < ROUNDS; round += 1) await walkPlainly(sql)
  const different = await countDifferent(sql)
  if (different > 0) throw new Error(`${different} standings are not those of the plain way`)
}

interface Measured {
  read: number
  walk: number
  write: number
  total: number
  longestDelay: number
}

/** What the follower does on a day, in seconds. */
async function makePass(sql: Sql, days = 0): Promise<Measured> {
  const loop = monitorEventLoopDelay({ resolution: 1 })
  let measured: Measured | undefined
  const log = {
    error({ err }: { err: unknown }) {
      throw err
    },
  } as unknown as Context['log']
  const follower = standingFollower(
    { log },
    {
      onPass({ took_ms }, { readMs, walkMs, writeMs }) {
        const [read, walk, write, total] = [readMs, walkMs, writeMs, took_ms].map((ms) => ms / 1_000)
        measured = { read, walk, write, total, longestDelay: loop.max / 1e9 } as Measured
      },
    },
  )
  loop.enable()
  await followOnce(
    { sql, clock: () => NOW.getTime() + days * DAY_MS },
    { config: { chainId: CHAIN_ID } } as Chain,
    [follower],
  )
  loop.disable()
  if (!measured) throw new Error('no pass was made')
  return measured
}

async function measure(sql: Sql, owners: number): Promise<void> {
  progress('the first pass, which writes all standings')
  const first = await makePass(sql)
  progress('the pass of the next day')
  const next = await makePass(sql, 1)
  const peakMb = process.resourceUsage().maxRSS / 1_024
  progress('the plain way: its tables, and one round')
  const begun = performance.now()
  await beginPlainly(sql)
  const read = (performance.now() - begun) / 1_000
  await walkPlainly(sql)
  const round = (performance.now() - begun) / 1_000 - read
  tell({ owners, first, next, peakMb, plain: { read, round, total: read + ROUNDS * round } })
}

interface Figures {
  owners: number
  first: Measured
  next: Measured
  peakMb: number
  plain: { read: number; round: number; total: number }
}

function tell({ owners, first, next, peakMb, plain }: Figures): void {
  const seconds = (value: number) => `${value.toFixed(1)} s`
  const line = (what: string, measured: Measured) => ({
    what,
    read: seconds(measured.read),
    walk: seconds(measured.walk),
    write: seconds(measured.write),
    total: seconds(measured.total),
    'highest memory': `${Math.round(peakMb)} MB`,
    'longest delay': `${Math.round(measured.longestDelay * 1_000)} ms`,
  })
  const named = (name: string, measured: Measured) =>
    Object.fromEntries(
      Object.entries(measured).map(([part, value]) => [`${name}_${part}_s`.toLowerCase(), value]),
    )
  report({
    name: 'standing',
    figures: {
      owners,
      ...named('first', first),
      ...named('next', next),
      peak_mb: peakMb,
      plain_read_s: plain.read,
      plain_round_s: plain.round,
      plain_total_s: plain.total,
    },
    ratios: { plain_to_next: plain.total / next.total },
    rows: [
      line('ours, the first pass', first),
      line('ours, the next day', next),
      {
        what: `plain, one round × ${ROUNDS}`,
        read: seconds(plain.read),
        walk: seconds(ROUNDS * plain.round),
        write: '–',
        total: seconds(plain.total),
        'highest memory': '–',
        'longest delay': '–',
      },
    ],
  })
}
