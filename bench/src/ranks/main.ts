import { parseArgs } from 'node:util'
import type { PostgresServer, Sql } from '@referrer/database'
import { recomputeRanks } from '@referrer/service'
import { createParts, type Parts } from '../parts.ts'
import { report } from '../report.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { createEvents, type Events, KINDS } from './events.ts'
import { createFilled } from './fill.ts'
import { chain, drain, FULL_COMMISSION, type Measured, measureFollowing, measurePlain } from './measure.ts'

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

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const sizes = [Number(values.few), Number(values.many)]
  if (sizes.some((size) => !Number.isSafeInteger(size) || size < 10_000 || size % 10_000 !== 0))
    throw new Error('--few and --many take numbers of events in steps of 10,000')
  // A million events must fit into the cache of Postgres: else the size of the cache is measured.
  const settings = { shared_buffers: '2GB' }
  await withPostgres('ranks', (postgres) => measureAll(postgres, sizes), { settings })
}

type Result = Map<string, Measured>

async function measureAll(postgres: PostgresServer, sizes: number[]): Promise<void> {
  const parts = createParts()
  const results: Result[] = []
  for (const size of sizes) {
    const cases: Result = new Map()
    results.push(cases)
    const name = `${size.toLocaleString('en')} events`
    await parts.run(name, () => measure(postgres, size, { cases, parts, name, isChecked: size === sizes[0] }))
  }
  tell(sizes, results, parts)
}

async function measure(
  postgres: PostgresServer,
  size: number,
  { cases, parts, name, isChecked }: { cases: Result; parts: Parts; name: string; isChecked: boolean },
): Promise<void> {
  progress(`filling ${name}`)
  const sql = await createFilled(postgres, size)
  try {
    const events = createEvents(sql, size)
    await drain(sql, events)
    if (isChecked) await checkFilling(sql, events)
    await sql`VACUUM ANALYZE`
    const add = (event: string, work: () => Promise<Measured>) =>
      parts.run(`${event}, ${name}`, async () => void cases.set(event, await work()))
    for (const kind of KINDS) {
      progress(`following ${kind}s`)
      await add(`one ${kind}, ours`, () => measureFollowing(sql, events, kind, 1, ONE_AT_A_TIME))
      await add(`100 ${kind}s at once, ours`, () => measureFollowing(sql, events, kind, 100, HUNDREDS))
      if (kind !== 'opinion') await add(`one ${kind}, plain`, () => measurePlain(sql, events, kind, PLAINLY))
    }
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
        UNION ALL SELECT s::text FROM market.rank_totals AS s UNION ALL SELECT c::text FROM market.counted_purchases AS c
        UNION ALL SELECT v::text FROM market.counted_votes AS v UNION ALL SELECT a::text FROM market.spent_at_shops AS a
        UNION ALL SELECT m::text FROM market.author_money AS m
        UNION ALL SELECT o::text FROM market.opinions AS o
        UNION ALL SELECT p::text FROM market.product_totals AS p) AS t`
    return row?.ranks
  }
  const filled = await read()
  await recomputeRanks(sql, chain, { now: new Date(events.now()), fullCommission: FULL_COMMISSION }, () => {})
  if ((await read()) !== filled) throw new Error('the ranks that were filled in are not those of the events')
  await sql`TRUNCATE market.pending_changes`
}

function tell([few = 0, many = 0]: number[], [small, large]: Result[], { failed }: Parts): void {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const times = (measured?: Measured) =>
    measured ? `${measured.p50Ms.toFixed(1)}, ${measured.p99Ms.toFixed(1)}` : '–'
  const rows = [...new Set([...(small?.keys() ?? []), ...(large?.keys() ?? [])])].map((name) => {
    const before = small?.get(name)
    const after = large?.get(name)
    for (const [size, measured] of [
      [few, before],
      [many, after],
    ] as const) {
      if (!measured) continue
      const key = plain(`${name} ${size}`)
      figures[`${key}_p50_ms`] = measured.p50Ms
      figures[`${key}_p99_ms`] = measured.p99Ms
      figures[`${key}_mean_ms`] = measured.meanMs
      figures[`${key}_statements`] = measured.statements
    }
    const ratio = (of: 'p50Ms' | 'meanMs') => (before && after ? after[of] / before[of] : Number.NaN)
    if (before && after) ratios[plain(name)] = ratio('meanMs')
    return {
      event: name,
      [`p50, p99 ms with ${few.toLocaleString('en')}`]: times(before),
      [`with ${many.toLocaleString('en')}`]: times(after),
      statements: [before, after].map((each) => each?.statements.toFixed(1) ?? '–').join(', '),
      'ratio of p50': before && after ? ratio('p50Ms').toFixed(2) : '–',
      'of the mean': before && after ? ratio('meanMs').toFixed(2) : '–',
    }
  })
  report({ name: 'ranks', figures, ratios, rows, failed })
}

function plain(words: string): string {
  return words.replaceAll(/\W+/g, '_')
}
