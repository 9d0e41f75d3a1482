import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type PostgresServer, type Sql, startPostgres } from '@referrer/database'
import { recomputeRanks } from '@referrer/service/testing'
import { report } from '../report.ts'
import { createEvents, type Events, KINDS } from './events.ts'
import { createFilled } from './fill.ts'
import { chain, drain, type Measured, measureFollowing, measurePlain } from './measure.ts'

const HELP = `bench:ranks: what one more vote, finding or opinion costs the ranks, with 10,000 of them before and with 1,000,000

Compared, on Postgres with fsync on:
  ours    the ranks of reviewers, products and merchants follow events, one at a time and 100 at once
  plain   one query over all votes and findings of the agent, for each event; it keeps no product ranks and writes nothing
A fifth of all events concern one author, and a fifth of all reviews one product. Both databases are filled first; of the smaller it is
checked that its ranks are those that are computed from its events.

  --few <events>, --many <events>   other sizes, in steps of 10,000`

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    few: { type: 'string', default: '10000' },
    many: { type: 'string', default: '1000000' },
  },
})
const ONE_AT_A_TIME = 200
const HUNDREDS = 10
const PLAINLY = 20
const begun = performance.now()

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const sizes = [Number(values.few), Number(values.many)]
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 10_000 || size % 10_000 !== 0))
    throw new Error('--few and --many take numbers of events in steps of 10,000')
  const [load = 0] = loadavg()
  if (load > cpus().length / 2)
    progress(`this machine is busy (load ${load.toFixed(1)}): do not trust the figures`)
  const directory = mkdtempSync(join(tmpdir(), 'bench-ranks-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  // The million must fit, as it does in whatever holds a million: else the size of the cache is measured.
  const settings = { shared_buffers: '2GB' }
  const postgres = await startPostgres({ directory: join(directory, 'postgres'), settings })
  try {
    const results = []
    for (const size of sizes) results.push(await measure(postgres, size, size === sizes[0]))
    tell(sizes, results)
  } finally {
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

type Result = Map<string, Measured>

async function measure(postgres: PostgresServer, size: number, isChecked: boolean): Promise<Result> {
  progress(`filling ${size.toLocaleString('en')} events`)
  const sql = await createFilled(postgres, size)
  try {
    const events = createEvents(sql, size)
    await drain(sql, events)
    if (isChecked) await checkFilling(sql, events)
    await sql`VACUUM ANALYZE`
    const cases = new Map<string, Measured>()
    for (const kind of KINDS) {
      progress(`following ${kind}s`)
      cases.set(`one ${kind}, ours`, await measureFollowing(sql, events, kind, 1, ONE_AT_A_TIME))
      cases.set(`100 ${kind}s at once, ours`, await measureFollowing(sql, events, kind, 100, HUNDREDS))
      if (kind !== 'opinion') cases.set(`one ${kind}, plain`, await measurePlain(sql, events, kind, PLAINLY))
    }
    return cases
  } finally {
    await sql.end()
  }
}

/** The filled ranks must be those that are computed from the events: else something else would be measured. */
async function checkFilling(sql: Sql, events: Events): Promise<void> {
  const read = async () => {
    const [row] = await sql<{ ranks: string }[]>`
      SELECT md5(string_agg(t::text, ',' ORDER BY t::text)) AS ranks FROM (
        SELECT e::text FROM market.rank_evidence AS e UNION ALL SELECT r::text FROM market.review_ranks AS r
        UNION ALL SELECT s::text FROM market.rank_totals AS s UNION ALL SELECT o::text FROM market.opinions AS o
        UNION ALL SELECT p::text FROM market.product_totals AS p) AS t`
    return row?.ranks
  }
  const filled = await read()
  await recomputeRanks(sql, chain, new Date(events.now()), () => {})
  if ((await read()) !== filled) throw new Error('the ranks that were filled in are not those of the events')
  await sql`TRUNCATE market.pending_changes`
}

function tell([few = 0, many = 0]: number[], [small, large]: Result[]): void {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  for (const [name, after] of large ?? []) {
    const before = small?.get(name)
    if (!before) continue
    for (const [size, { p50Ms, p99Ms, meanMs, statements }] of [
      [few, before],
      [many, after],
    ] as const) {
      const key = `${name} ${size}`.replaceAll(/\W+/g, '_')
      Object.assign(figures, {
        [`${key}_p50_ms`]: p50Ms,
        [`${key}_p99_ms`]: p99Ms,
        [`${key}_mean_ms`]: meanMs,
        [`${key}_statements`]: statements,
      })
    }
    const ratio = (of: 'p50Ms' | 'p99Ms' | 'meanMs') => after[of] / before[of]
    ratios[name.replaceAll(/\W+/g, '_')] = ratio('meanMs')
    rows.push({
      event: name,
      [`p50, p99 ms with ${few.toLocaleString('en')}`]: `${before.p50Ms.toFixed(1)}, ${before.p99Ms.toFixed(1)}`,
      [`with ${many.toLocaleString('en')}`]: `${after.p50Ms.toFixed(1)}, ${after.p99Ms.toFixed(1)}`,
      statements: `${before.statements.toFixed(1)}, ${after.statements.toFixed(1)}`,
      'ratio of p50': ratio('p50Ms').toFixed(2),
      'of the mean': ratio('meanMs').toFixed(2),
    })
  }
  report({ name: 'ranks', figures, ratios, rows })
}

function progress(line: string): void {
  console.log(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
