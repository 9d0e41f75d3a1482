import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '@referrer/database'
import { compare, type Plan } from '../http/compare.ts'
import { createFilledMarket, type FilledMarket, someReviews } from '../http/market.ts'
import { again } from '../http/measure.ts'
import type { Request } from '../http/request.ts'
import { get } from '../http/requests.ts'
import { type Server, startServer } from '../http/servers.ts'
import { type Signers, startSigners } from '../http/signing.ts'
import { createSummary, type Summary } from '../http/summary.ts'
import { interrupt } from '../index/processes.ts'

const HELP = `bench:mcp: what a call of a tool costs beside the same operation on REST

One process of the service on Postgres with 20,000 rows of each kind, asked over plain sockets, in turns:
  rest   the route, signed where it must be (the signatures are made before the clock runs)
  mcp    POST /mcp with the tools/call that does the same
Everything is the median of several rounds. The target: a tool takes at most 1.5 times as long.`

const ROWS = 20_000
const CALLS = 1_000
const ALONE: Plan = { rounds: 5, ms: 1_000, connections: 1 }
const BUSY: Plan = { rounds: 5, ms: 1_000, connections: 16 }
/** A tool is at least so fast as its route: 1.5 times its time at most. */
const LEAST = 0.666

interface Case {
  name: string
  rest: Request[]
  mcp: Request[]
}

const { values } = parseArgs({ options: { help: { type: 'boolean' } } })
const begun = performance.now()

if (values.help) console.log(HELP)
else await main()

async function main(): Promise<void> {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupt)
  const directory = mkdtempSync(join(tmpdir(), 'bench-mcp-'))
  // Root's Postgres runs as another user.
  chmodSync(directory, 0o711)
  const postgres = await startPostgres({ directory: join(directory, 'postgres') })
  const signers = startSigners()
  const summary = createSummary('mcp')
  try {
    progress(`filling ${ROWS.toLocaleString('en')} rows`)
    const market = await createFilledMarket(postgres, ROWS)
    const settings = { MCP_HOSTS: 'bench', EMBEDDER: 'off' }
    const server = await startServer({ name: 'service', directory, ...market, settings })
    try {
      for (const each of await casesOf(market, signers)) await measure(server, each, summary)
    } finally {
      await server.process.stop()
    }
  } finally {
    await signers.close()
    await postgres.stop()
    rmSync(directory, { recursive: true, force: true })
  }
  summary.tell()
}

async function measure(server: Server, { name, rest, mcp }: Case, summary: Summary): Promise<void> {
  const contenders = Object.entries({ rest, mcp }).map(([contender, requests]) => ({
    name: contender,
    server,
    prepare: again(requests),
  }))
  for (const [who, plan, by] of [
    ['one caller', ALONE, 'p50'],
    ['16 callers', BUSY, undefined],
  ] as const) {
    progress(`${name}, ${who}`)
    const ratio = { to: 'rest', least: LEAST, ...(by && { by }) }
    summary.add(`${name}, ${who}`, await compare(contenders, plan), 'mcp', [ratio])
  }
}

async function casesOf(market: FilledMarket, signers: Signers): Promise<Case[]> {
  const agents = Array.from({ length: CALLS }, (_, at) => 1 + ((at * 7_919) % (ROWS - 1)))
  const reviews = await someReviews(market, CALLS)
  const perAgent = (tool: string) => agents.map((agent_id) => call(tool, { agent_id }))
  return [
    {
      name: 'review rank',
      rest: await signers.sign(agents.map((id) => get(`/v1/review-rank/${id}`))),
      mcp: perAgent('get_review_rank'),
    },
    {
      name: 'agent context',
      rest: await signers.sign(agents.map((id) => get(`/v1/agent/${id}/context`))),
      mcp: perAgent('get_agent_context'),
    },
    {
      name: 'escrows of an agent',
      rest: await signers.sign(agents.map((id) => get(`/v1/agent/${id}/escrows`))),
      mcp: perAgent('list_escrows'),
    },
    {
      name: 'agent',
      rest: agents.map((id) => get(`/v1/agent/${id}`)),
      mcp: perAgent('get_agent'),
    },
    {
      name: 'one review',
      rest: reviews.map((id) => get(`/v1/review/${id}`)),
      mcp: reviews.map((id) => call('get_review', { review_id: Number(id) })),
    },
    {
      name: '20 reviews',
      rest: [get('/v1/review?limit=20')],
      mcp: [call('list_reviews', { limit: 20 })],
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

function progress(line: string): void {
  console.log(`${((performance.now() - begun) / 1_000).toFixed(0).padStart(4)} s  ${line}`)
}
