// Figures that every long-running program shows to Prometheus. They are described here without a metrics library; a program registers
// them in its own registry.
import { poolUse, type Sql } from '@referrer/database'
import manifest from '../package.json' with { type: 'json' }
import { sharedQuestion } from './shared-question.ts'

export interface Sample {
  labels: Record<string, string | number>
  value: number
}

export interface Figure {
  /** Without the prefix `referrer_`. */
  name: string
  help: string
  type: 'gauge' | 'counter'
  labelNames: readonly string[]
  /** Called for each scrape; series that it leaves out disappear. */
  read(): readonly Sample[] | Promise<readonly Sample[]>
}

/** The part of a chain's nodes that is shown. */
interface Nodes {
  chainId: number
  rpc: { health(): { name: string; isUsable: boolean; outcomes: Readonly<Record<string, number>> }[] }
}

interface Program {
  sql: Sql
  commit: string | undefined
  chains: Iterable<Nodes>
}

const DATABASE_TIMEOUT_MS = 2_000

export function programFigures({ sql, commit, chains }: Program): Figure[] {
  return [build(commit), ...poolFigures(sql), migrationFigure(sql), ...nodeFigures([...chains])]
}

const build = (commit = 'unknown'): Figure => ({
  name: 'build_info',
  help: 'Always 1. Its labels say which version runs; compare replicas by them during an update',
  type: 'gauge',
  labelNames: ['version', 'commit', 'node'],
  read: () => [{ labels: { version: manifest.version, commit, node: process.version }, value: 1 }],
})

function poolFigures(sql: Sql): Figure[] {
  const figure = (name: string, help: string, of: 'max' | 'inUse' | 'waiting'): Figure => ({
    name: `database_pool_${name}`,
    help,
    type: 'gauge',
    labelNames: [],
    read() {
      const use = poolUse(sql)
      return use ? [{ labels: {}, value: use[of] }] : []
    },
  })
  return [
    figure('max', 'Connections that the pool of this process may open', 'max'),
    figure('in_use', 'Connections of the pool that do work now', 'inUse'),
    figure(
      'waiting',
      'Callers that wait for a connection of the pool. If this stays above 0, look for slow statements or add replicas',
      'waiting',
    ),
  ]
}

function migrationFigure(sql: Sql): Figure {
  const ask = sharedQuestion(
    DATABASE_TIMEOUT_MS,
    () => sql<{ set_name: string; number: number }[]>`
      SELECT set_name, max(number) AS number FROM migrations.applied GROUP BY set_name ORDER BY set_name`,
  )
  return {
    name: 'migrations_applied',
    help: 'Number of the newest migration in the database, by set. It is the same for all replicas',
    type: 'gauge',
    labelNames: ['set'],
    async read() {
      const rows = await ask().catch(() => [])
      return rows.map(({ set_name: set, number }) => ({ labels: { set }, value: number }))
    },
  }
}

function nodeFigures(chains: Nodes[]): Figure[] {
  const all = () => chains.flatMap(({ chainId, rpc }) => rpc.health().map((node) => ({ chainId, ...node })))
  return [
    {
      name: 'rpc_calls_total',
      help: 'Calls to nodes by outcome. `reported` counts answers that contradict the chain or other nodes: such a node should be replaced',
      type: 'counter',
      labelNames: ['chain', 'endpoint', 'outcome'],
      read: () =>
        all().flatMap(({ chainId: chain, name: endpoint, outcomes }) =>
          Object.entries(outcomes).map(([outcome, value]) => ({
            labels: { chain, endpoint, outcome },
            value,
          })),
        ),
    },
    {
      name: 'rpc_endpoint_usable',
      help: 'Whether a node is asked. 0 while it backs off after failures; if all nodes of a chain are 0, nothing is read or sent there',
      type: 'gauge',
      labelNames: ['chain', 'endpoint'],
      read: () =>
        all().map(({ chainId: chain, name: endpoint, isUsable }) => ({
          labels: { chain, endpoint },
          value: isUsable ? 1 : 0,
        })),
    },
  ]
}
