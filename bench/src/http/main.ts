import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { createParts, type Parts } from '../parts.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { createFilledMarket } from './market.ts'
import { measureFlatness, measureReads, measureSigned } from './measure.ts'
import { type Server, startServer } from './servers.ts'
import { startSigners } from './signing.ts'
import { createSummary, type Summary } from './summary.ts'

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

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  if (values.only !== undefined && !PARTS.includes(values.only)) {
    throw new Error(`--only takes one of ${PARTS.join(', ')}`)
  }
  await withPostgres('http', measure, { keep: values.keep })
}

async function measure(postgres: PostgresServer, directory: string): Promise<void> {
  const parts = createParts()
  const summary = createSummary('http', parts)
  const isWanted = (part: string) => values.only === undefined || values.only === part
  const wanted = ['reads', 'signed'].filter(isWanted)
  if (wanted.length > 0)
    await parts.run(wanted.join(' and '), () =>
      measureAnswers({ postgres, directory, summary, parts }, wanted),
    )
  if (isWanted('flatness'))
    await parts.run('flatness', () => measurePages({ postgres, directory, summary, parts }))
  summary.tell()
}

type Setting = { postgres: PostgresServer; directory: string; summary: Summary; parts: Parts }

async function measureAnswers({ postgres, ...setting }: Setting, wanted: string[]): Promise<void> {
  const { directory } = setting
  progress(`filling ${ROWS.toLocaleString('en')} rows`)
  const market = await createFilledMarket(postgres, ROWS)
  const ours = await startServer({ name: 'ours', directory, ...market })
  const signers = startSigners()
  try {
    const viem = await startServer({ name: 'viem', directory, ...market, recovery: 'viem' })
    try {
      const stage = { ...setting, ours, viem, market, signers }
      if (wanted.includes('reads')) await measureReads(stage)
      if (wanted.includes('signed')) await measureSigned(stage)
    } finally {
      await viem.process.stop()
    }
  } finally {
    await Promise.all([ours.process.stop(), signers.close()])
  }
}

async function measurePages({ postgres, directory, ...setting }: Setting): Promise<void> {
  const running: { rows: number; server: Server }[] = []
  try {
    for (const rows of [FEW_ROWS, MANY_ROWS]) {
      progress(`filling ${rows.toLocaleString('en')} rows`)
      const market = await createFilledMarket(postgres, rows)
      running.push({ rows, server: await startServer({ name: `${rows} rows`, directory, ...market }) })
    }
    await measureFlatness(running, setting)
  } finally {
    await Promise.all(running.map(({ server }) => server.process.stop()))
  }
}
