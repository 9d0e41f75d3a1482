import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connect, startPostgres } from '@referrer/database'
import { report } from '../report.ts'
import type { Order, Round } from './child.ts'
import {
  CASES,
  type Case,
  CONNECTIONS,
  CONTENDERS,
  type ContenderName,
  STATEMENTS,
  schema,
} from './contenders.ts'

const HELP = `bench:database: our layer over postgres.js beside plain postgres.js and pg

The embedded Postgres (fsync off), ${CONNECTIONS} connections each, 50 calls at once; each library in a process of its own, in turns.
  one row, 100 rows    reads with bigint, bytea, text, numeric and timestamptz
  insert of 100 rows   arrays and unnest
  transaction of 5     begin, five statements, commit
CPU is the library's process without Postgres and is the steadiest figure. Pauses: garbage collections and delays of the event loop.

  --rounds <n>         how often each has its turn (default 5)
  --ms <n>             how long a turn takes (default 1500)`

const PARALLEL = 50
const WARM_UP_MS = 500

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    rounds: { type: 'string', default: '5' },
    ms: { type: 'string', default: '1500' },
  },
})

if (values.help) console.log(HELP)
else await main(Number(values.rounds), Number(values.ms))

async function main(rounds: number, ms: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-database-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const server = await startPostgres({ directory: join(directory, 'postgres'), settings: { fsync: 'off' } })
  try {
    const sql = connect(server.url, { max: 1 })
    await sql.unsafe(schema)
    const measured: Measured[] = []
    for (const kind of CASES) {
      console.log(kind)
      await sql`TRUNCATE events`
      measured.push({ kind, rounds: await measure(server.url, kind, rounds, ms) })
    }
    await sql.end()
    tell(measured)
  } finally {
    await server.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

type Rounds = Record<ContenderName, Round[]>
interface Measured {
  kind: Case
  rounds: Rounds
}

async function measure(url: string, kind: Case, rounds: number, ms: number): Promise<Rounds> {
  const children = CONTENDERS.map((name) => ({
    name,
    child: fork(new URL('child.ts', import.meta.url), [name, url]),
  }))
  const all = Object.fromEntries(CONTENDERS.map((name) => [name, []])) as unknown as Rounds
  try {
    for (const { child } of children) await ask(child, { case: kind, ms: WARM_UP_MS, parallel: PARALLEL })
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, child } of children)
        all[name].push(await ask(child, { case: kind, ms, parallel: PARALLEL }))
    }
  } finally {
    const left = children.filter(({ child }) => child.connected)
    const ended = left.map(({ child }) => once(child, 'exit'))
    for (const { child } of left) child.send('end')
    await Promise.all(ended)
  }
  return all
}

async function ask(child: ChildProcess, order: Order): Promise<Round> {
  child.send(order)
  const [round] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`a contender ended with ${code}: see its output above`)
    }),
  ])
  return round
}

function summarize(kind: Case, rounds: Round[]) {
  const statements = (round: Round) => round.calls * STATEMENTS[kind]
  const middle = (of: (round: Round) => number) =>
    rounds.map(of).toSorted((a, b) => a - b)[Math.floor(rounds.length / 2)] ?? Number.NaN
  return {
    perSecond: middle((round) => statements(round) / round.seconds),
    cpuMicros: middle((round) => (round.cpuMs * 1_000) / statements(round)),
    gcShare: middle((round) => round.gcMs / (round.seconds * 1_000)),
    gcMaxMs: middle((round) => round.gcMaxMs),
    delayP99Ms: middle((round) => round.delayP99Ms),
    delayMaxMs: middle((round) => round.delayMaxMs),
  }
}

function tell(measured: readonly Measured[]): void {
  const figures: Record<string, number> = {}
  const ratios: Record<string, number> = {}
  const rows: Record<string, string | number>[] = []
  for (const { kind, rounds } of measured) {
    const ours = summarize(kind, rounds.ours)
    for (const name of CONTENDERS) {
      const each = summarize(kind, rounds[name])
      for (const [key, value] of Object.entries(each)) figures[`${kind}, ${name}: ${key}`] = value
      ratios[`${kind}, CPU of ours to ${name}`] = ours.cpuMicros / each.cpuMicros
      rows.push({
        case: kind,
        library: name,
        'statements/s': Math.round(each.perSecond).toLocaleString('en'),
        'CPU µs': each.cpuMicros.toFixed(1),
        'ours to it': (ours.cpuMicros / each.cpuMicros).toFixed(2),
        'GC %': (each.gcShare * 100).toFixed(1),
        'longest GC ms': each.gcMaxMs.toFixed(1),
        'delay p99 ms': each.delayP99Ms.toFixed(1),
        'delay max ms': each.delayMaxMs.toFixed(1),
      })
    }
  }
  report({ name: 'database', figures, ratios, rows })
}
