import { parseArgs } from 'node:util'
import type { PostgresServer } from '@referrer/database'
import { type Contender, compare, type Plan } from '../http/compare.ts'
import { createFilledMarket, type FilledMarket, someReviews } from '../http/market.ts'
import { type Request, serialize } from '../http/request.ts'
import { get } from '../http/requests.ts'
import { type Server, startServer } from '../http/servers.ts'
import { type Signers, startSigners } from '../http/signing.ts'
import { createParts, type Parts } from '../parts.ts'
import { type Report, report } from '../report.ts'
import { fail, progress, withPostgres } from '../stage.ts'

const HELP = `bench:mcp: what a call of a tool costs beside the same operation on REST

One process of the service on Postgres with 20,000 rows of each kind, asked over plain sockets, in turns:
  route  the REST route, signed where it must be (the signatures are made before the clock runs)
  tool   POST /mcp with the tools/call that does the same
Everything is the median of several rounds. The target: a tool takes at most 1 ms of the service's processor time more than its route.`

const ROWS = 20_000
const CALLS = 1_000
/** A round has this many calls, however long they take: on a busy machine a round of a second would measure code that is not compiled yet. */
const CALLS_OF_ROUND = 1_000
const LONGEST_MS = 120_000
/** Many callers first: they warm up the code that one caller then runs. */
const PLANS: readonly Plan[] = [16, 1].map((connections) => ({
  rounds: 3,
  ms: LONGEST_MS,
  warmUpMs: LONGEST_MS,
  connections,
}))
/** Processor time that a tool may take more than its route, in milliseconds. */
const MOST_MORE_MS = 1

interface Case {
  name: string
  route: Request[]
  tool: Request[]
}

const { values } = parseArgs({ options: { help: { type: 'boolean' } } })

if (values.help) console.log(HELP)
else await main().catch(fail)

async function main(): Promise<void> {
  const signers = startSigners()
  try {
    await withPostgres('mcp', (postgres, directory) => measureAll(postgres, directory, signers))
  } finally {
    await signers.close()
  }
}

async function measureAll(postgres: PostgresServer, directory: string, signers: Signers): Promise<void> {
  progress(`filling ${ROWS.toLocaleString('en')} rows`)
  const market = await createFilledMarket(postgres, ROWS)
  const settings = { MCP_HOSTS: 'bench', EMBEDDER: 'off' }
  const server = await startServer({ name: 'service', directory, ...market, settings })
  const parts = createParts()
  const told: Report = { name: 'mcp', figures: {}, ratios: {}, rows: [], failed: parts.failed }
  try {
    for (const each of await casesOf(market, signers)) await measure(server, each, told, parts)
  } finally {
    await server.process.stop()
  }
  report(told)
}

async function measure(
  server: Server,
  { name, route, tool }: Case,
  told: Report,
  parts: Parts,
): Promise<void> {
  const contenders = Object.entries({ route, tool }).map(([contender, requests]) => ({
    name: contender,
    server,
    prepare: roundOf(requests),
  }))
  for (const plan of PLANS) {
    const title = `${name}, ${plan.connections === 1 ? 'one caller' : `${plan.connections} callers`}`
    progress(title)
    await parts.run(title, async () => {
      const measured = await compare(contenders, plan)
      const of = (contender: string) => {
        const found = measured.get(contender)
        if (!found) throw new Error(`${contender} was not measured`)
        for (const [figure, value] of [
          ['per_second', found.perSecond],
          ['p50_ms', found.p50Ms],
          ['p99_ms', found.p99Ms],
          ['cpu_us', found.cpuMicros],
        ] as const)
          told.figures[`${title} ${contender} ${figure}`.replaceAll(/\W+/g, '_')] = value
        return { ...found, cpuMs: found.cpuMicros / 1_000 }
      }
      const [asked, called] = [of('route'), of('tool')]
      const moreMs = called.cpuMs - asked.cpuMs
      told.ratios[`${title} tool to route`.replaceAll(/\W+/g, '_')] = called.cpuMs / asked.cpuMs
      told.rows.push({
        operation: title,
        'route CPU ms': asked.cpuMs.toFixed(2),
        'tool CPU ms': called.cpuMs.toFixed(2),
        'more ms': moreMs.toFixed(2),
        target: `≤ ${MOST_MORE_MS} ${moreMs <= MOST_MORE_MS ? '✓' : '✗'}`,
        'route p50 ms': asked.p50Ms.toFixed(2),
        'tool p50 ms': called.p50Ms.toFixed(2),
        'route/s': Math.round(asked.perSecond),
        'tool/s': Math.round(called.perSecond),
      })
    })
  }
}

function roundOf(requests: readonly Request[]): Contender['prepare'] {
  const wire = requests.map(serialize)
  return async () => {
    let sent = 0
    return () => (sent < CALLS_OF_ROUND ? wire[sent++ % wire.length] : undefined)
  }
}

async function casesOf(market: FilledMarket, signers: Signers): Promise<Case[]> {
  const agents = Array.from({ length: CALLS }, (_, at) => 1 + ((at * 7_919) % (ROWS - 1)))
  const reviews = await someReviews(market, CALLS)
  const perAgent = (tool: string) => agents.map((agent_id) => call(tool, { agent_id }))
  return [
    {
      name: 'review rank',
      route: await signers.sign(agents.map((id) => get(`/v1/review-rank/${id}`))),
      tool: perAgent('get_review_rank'),
    },
    {
      name: 'agent context',
      route: await signers.sign(agents.map((id) => get(`/v1/agent/${id}/context`))),
      tool: perAgent('get_agent_context'),
    },
    {
      name: 'escrows of an agent',
      route: await signers.sign(agents.map((id) => get(`/v1/agent/${id}/escrows`))),
      tool: perAgent('list_escrows'),
    },
    {
      name: 'agent',
      route: agents.map((id) => get(`/v1/agent/${id}`)),
      tool: perAgent('get_agent'),
    },
    {
      name: 'one review',
      route: reviews.map((id) => get(`/v1/review/${id}`)),
      tool: reviews.map((id) => call('get_review', { review_id: Number(id) })),
    },
    {
      name: '20 reviews',
      route: [get('/v1/review?limit=20')],
      tool: [call('list_reviews', { limit: 20 })],
    },
  ]
}

function call(name: string, args: Record<string, unknown>): Request {
  return {
    method: 'POST',
    path: '/mcp',
    headers: {
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-11-25',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
  }
}
