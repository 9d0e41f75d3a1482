import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { cpus, loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type PostgresServer, startPostgres } from '@referrer/database'
import { interrupt } from '../index/processes.ts'
import { createFilledMarket } from './market.ts'
import { measureFlatness, measureReads, measureSigned } from './measure.ts'
import { startServer } from './servers.ts'
import { startSigners } from './signing.ts'
import { createSummary } from './summary.ts'

const HELP = `bench:http: how many requests a second one process of the service answers

Compared, in turns, each a process of its own that is asked over 64 connections:
  ours   the service as it is deployed, on Postgres (fsync on) with 100,000 rows of each kind
  bare   node:http alone, which has the same answers ready, byte for byte
  viem   ours with signers recovered by viem, for requests that are signed: each with a signature of its own
Then pages of the service's lists with 10,000 rows and with 1,000,000. Everything is the median of several rounds.
Postgres, the server and whoever asks share the machine's cores.

  --only reads|signed|flatness   a part of it
  --keep                         keep the logs, and say where they are`

const FEW_ROWS = 10_000
const ROWS = 100_000
const MANY_ROWS = 1_000_000
const PARTS = ['reads', 'signed', 'flatness']

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    only: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
})
const begun = performance.now()

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  if (values.only !== undefined && !PARTS.includes(values.only)) {
    throw new Error(`--only takes one of ${PARTS.join(', ')}`)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  const [load = 0] = loadavg()
  if (load > cpus().length / 2)
    progress(`this machine is busy (load ${load.toFixed(1)}): do not trust the figures`)
  const directory = mkdtempSync(join(tmpdir(), 'bench-http-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const postgres = await startPostgres({ directory: join(directory, 'postgres') })
  try {
    await measure(postgres, directory)
  } finally {
    await postgres.stop()
    if (values.keep) console.log(`kept in ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

async function measure(postgres: PostgresServer, directory: string): Promise<void> {
  const summary = createSummary('http')
  const isWanted = (part: string) => values.only === undefined || values.only === part
  if (isWanted('reads') || isWanted('signed')) {
    progress(`filling ${ROWS.toLocaleString('en')} rows`)
    const market = await createFilledMarket(postgres, ROWS)
    const [ours, viem] = await Promise.all([
      startServer({ name: 'ours', directory, ...market }),
      startServer({ name: 'viem', directory, ...market, recovery: 'viem' }),
    ])
    const signers = startSigners()
    const stage = { ours, viem, market, directory, signers, summary, progress }
    try {
      if (isWanted('reads')) await measureReads(stage)
      if (isWanted('signed')) await measureSigned(stage)
    } finally {
      await Promise.all([ours.process.stop(), viem.process.stop(), signers.close()])
    }
  }
  if (isWanted('flatness')) {
    progress(`filling ${FEW_ROWS.toLocaleString('en')} and ${MANY_ROWS.toLocaleString('en')} rows`)
    const markets = await Promise.all([FEW_ROWS, MANY_ROWS].map((rows) => createFilledMarket(postgres, rows)))
    const started = markets.map(async (market) => ({
      rows: market.rows,
      server: await startServer({ name: `${market.rows} rows`, directory, ...market }),
    }))
    const running = await Promise.all(started)
    try {
      await measureFlatness(running, { summary, progress })
    } finally {
      await Promise.all(running.map(({ server }) => server.process.stop()))
    }
  }
  summary.tell()
}

function progress(line: string): void {
  console.log(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
}

function fail(error: unknown): void {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
