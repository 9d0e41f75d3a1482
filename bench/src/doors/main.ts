import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { privateKeyOf } from '@referrer/contracts/local'
import { migrate, type PostgresServer } from '@referrer/database'
import { migrations } from '@referrer/service'
import { fillMarket } from '@referrer/service/testing'
import { connectPatiently, createDatabase } from '../databases.ts'
import { listening, type Process } from '../processes.ts'
import { report } from '../report.ts'
import { connectTo, openShop, type Shop } from '../settle/market.ts'
import { fail, progress, withPostgres } from '../stage.ts'
import { type Asked, costOf, type Door } from './measure.ts'
import { type Json, type Room, whole, worstOf, worstTargets } from './worst.ts'

const HELP = `bench:doors: the most processor time that one request may take

A service and a facilitator as they are deployed, on Postgres with 20,000 rows of each kind and a chain. Each route of
/openapi.json that is not for operators, each tool of MCP and A2A gets the worst that it lets somebody send: as large as it may be,
with as many keys, entries and levels as it may have, in each of its fields, long texts, accents, pictures, escapes. What takes more
than 10 ms is measured four times more, and the median counts.
It fails when a request takes more than 50 ms.

  --only <text>   doors whose name has this
  --keep          keep the logs, and say where they are`

const ROWS = 20_000
const MOST_MS = 50
const KIB = 1_024
const USUAL: Room = { bytes: 64 * KIB, values: 1_000 }
const REVIEW: Room = { ...USUAL, bytes: 128 * KIB }
const LARGEST: Room = { bytes: 1_088 * KIB, values: 10_000 }
const ROOMS = [LARGEST, REVIEW, USUAL]

const { values } = parseArgs({
  options: {
    help: { type: 'boolean' },
    only: { type: 'string', default: '' },
    keep: { type: 'boolean', default: false },
  },
})

const programOf = (file: string) => fileURLToPath(new URL(file, import.meta.url))

interface Worst {
  name: string
  ms: number
  what: string
  status: number
  tried: number
}

async function measureAll(postgres: PostgresServer, directory: string): Promise<void> {
  const running: Process[] = []
  const start = async (name: string, env: Record<string, string>): Promise<Door> => {
    const logFile = join(directory, `${name}.log`)
    const { url, process } = await listening(name, { args: [programOf(`${name}.ts`)], env }, logFile)
    running.push(process)
    return { url, meter: /^meter at (\S+)/m.exec(readFileSync(logFile, 'utf8'))?.[1] ?? '' }
  }
  try {
    progress('starting a chain')
    const chain = await listening(
      'chain',
      { args: [programOf('../settle/chain.ts')] },
      join(directory, 'chain.log'),
    )
    running.push(chain.process)
    const shop = await openShop(connectTo(chain.url), { buyers: 1, relayers: 1 })
    progress(`filling ${ROWS.toLocaleString('en')} rows`)
    const { service, facilitator } = settingsOf(shop, chain.url)
    const database = await filledDatabase(postgres, shop.market.client.chain.id)
    const ours = await start('service', { ...service, DATABASE_URL: database })
    const settles = await start('facilitator', {
      ...facilitator,
      DATABASE_URL: await createDatabase(postgres, 'facilitator'),
    })
    await warmUp(ours)
    const found = [
      ...(await worstOfRoutes('', ours)),
      ...(await worstOfTools(ours)),
      ...(await worstOfRoutes('facilitator ', settles)),
    ]
    tell(found)
  } finally {
    for (const process of running.reverse()) await process.stop()
  }
}

function settingsOf({ market, relayers, attestationPubKey }: Shop, rpcUrl: string) {
  const chainId = market.client.chain.id
  const common = {
    PORT: '0',
    CHAINS: JSON.stringify([{ chainId, rpcUrls: [rpcUrl], contracts: market.addresses, startBlock: 0 }]),
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
    LIMITS: 'memory',
    TRUSTED_PROXIES: '127.0.0.1',
    ATTESTATION_PUBLIC_KEYS: JSON.stringify({ [chainId]: [attestationPubKey] }),
  }
  return {
    // The model that embeds intents has a thread and limits of its own.
    service: {
      ...common,
      ROLES: 'api',
      EMBEDDER: 'off',
      PUBLIC_URL: 'https://market.example',
      MCP_HOSTS: '127.0.0.1',
    },
    facilitator: { ...common, RELAYER_PRIVATE_KEYS: relayers.map(privateKeyOf).join(',') },
  }
}

async function filledDatabase(postgres: PostgresServer, chainId: number): Promise<string> {
  const url = await createDatabase(postgres, 'market')
  const sql = connectPatiently(url, 2)
  try {
    await migrate(sql, migrations)
    await fillMarket(sql, chainId, ROWS)
  } finally {
    await sql.end()
  }
  return url
}

async function warmUp(door: Door): Promise<void> {
  const { paths } = await documentOf(door)
  for (const path of Object.keys(paths)) {
    const asked = { method: 'GET', target: path.replaceAll(/\{\w+\}/g, '1'), isSigned: false }
    for (let count = 0; count < 3; count += 1) await costOf(door, asked)
  }
}

interface Described {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Json }
}
interface Operation {
  security?: Json[]
  parameters?: { name: string; in: string; schema: Json }[]
  requestBody?: { content: Record<string, { schema: Json }> }
}

const documentOf = async ({ url }: Door) => (await (await fetch(`${url}/openapi.json`)).json()) as Described

/** Operators are trusted; the pages' own routes take a session of the browser. */
const OF_OPERATORS = /^\/(?:admin|console)\b/

async function worstOfRoutes(prefix: string, door: Door): Promise<Worst[]> {
  const { paths, components } = await documentOf(door)
  const found: Worst[] = []
  for (const [path, methods] of Object.entries(paths)) {
    for (const [verb, operation] of Object.entries(methods)) {
      const method = verb.toUpperCase()
      const name = `${prefix}${method} ${path}`
      if (OF_OPERATORS.test(path) || !name.includes(values.only)) continue
      const isSigned = (operation.security ?? []).length > 0
      const query = (operation.parameters ?? []).filter((each) => each.in === 'query')
      const required = query.filter(({ schema }) => schema.default === undefined)
      const targets = worstTargets(
        path,
        query.map(({ name: of, schema }) => ({ name: of, schema: whole(schema, components.schemas) })),
      )
      const asked: [string, Asked][] = targets.map(({ what, text }) => [
        what,
        { method, target: text, isSigned },
      ])
      const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema
      if (schema) {
        const [{ text: target } = { text: path }] = targets
        const room = await roomOf(door, { method, target, isSigned })
        for (const { what, text } of worstOf(whole(schema, components.schemas), room)) {
          asked.push([
            what,
            { method, target: `${target}${required.length > 0 ? '?' : ''}`, isSigned, body: text },
          ])
        }
      }
      found.push(await worstAmong(name, door, asked))
    }
  }
  return found
}

/** The largest body that the route reads. */
async function roomOf(door: Door, asked: Asked): Promise<Room> {
  for (const room of ROOMS) {
    const { status } = await costOf(door, { ...asked, body: ' '.repeat(room.bytes) })
    if (status !== 413 && status !== 0) return room
  }
  return USUAL
}

async function worstOfTools(door: Door): Promise<Worst[]> {
  const rpc = (method: string, params: string) =>
    `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
  const headers = { accept: 'application/json, text/event-stream' }
  const mcp = (body: string): Asked => ({ method: 'POST', target: '/mcp', isSigned: false, headers, body })
  const listed = await fetch(`${door.url}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: rpc('tools/list', '{}'),
  })
  const { result } = (await listed.json()) as { result: { tools: { name: string; inputSchema: Json }[] } }
  const found: Worst[] = []
  for (const { name, inputSchema } of result.tools) {
    const title = `POST /mcp ${name}`
    if (!title.includes(values.only)) continue
    const room = name === 'submit_proof' ? LARGEST : /review/.test(name) ? REVIEW : USUAL
    const inside = { bytes: room.bytes - 1_000, values: room.values - 20 }
    const asked = worstOf(whole(inputSchema, {}), inside).map(({ what, text }): [string, Asked] => [
      what,
      mcp(rpc('tools/call', `{"name":"${name}","arguments":${text}}`)),
    ])
    found.push(await worstAmong(title, door, asked))
  }
  const anything = { type: 'object', properties: { data: {}, text: {} } }
  const messages = worstOf(anything, { bytes: USUAL.bytes - 1_000, values: USUAL.values - 20 })
  const others: Record<string, (text: string) => Asked> = {
    'POST /mcp initialize': (text) =>
      mcp(
        rpc(
          'initialize',
          `{"protocolVersion":"2025-11-25","capabilities":${text},"clientInfo":${text.length > 30_000 ? '{}' : text}}`,
        ),
      ),
    'POST /mcp prompts/get': (text) => mcp(rpc('prompts/get', `{"name":"find_and_buy","arguments":${text}}`)),
    'POST /a2a': (text) => ({
      method: 'POST',
      target: '/a2a',
      isSigned: false,
      headers: { 'a2a-version': '1.0' },
      body: rpc(
        'SendMessage',
        `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"data":{"tool":"discover_products","arguments":${text}}}]}}`,
      ),
    }),
    'POST /a2a in words': (text) => ({
      method: 'POST',
      target: '/a2a',
      isSigned: false,
      headers: { 'a2a-version': '1.0' },
      body: rpc('SendMessage', `{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":${text}}]}}`),
    }),
  }
  for (const [name, askedWith] of Object.entries(others)) {
    if (!name.includes(values.only)) continue
    found.push(
      await worstAmong(
        name,
        door,
        messages.map(({ what, text }) => [what, askedWith(text)]),
      ),
    )
  }
  return found
}

async function worstAmong(
  name: string,
  door: Door,
  asked: readonly (readonly [string, Asked])[],
): Promise<Worst> {
  let worst: Worst = { name, ms: 0, what: '', status: 0, tried: asked.length }
  for (const [what, one] of asked) {
    const { ms, status } = await costOf(door, one)
    if (ms > worst.ms) worst = { ...worst, ms, what, status }
  }
  progress(`${name}: ${worst.ms.toFixed(1)} ms, ${worst.what} (${asked.length} tried)`)
  return worst
}

function tell(found: readonly Worst[]): void {
  const sorted = found.toSorted((a, b) => b.ms - a.ms)
  const tooMuch = sorted.filter(({ ms }) => ms > MOST_MS)
  report({
    name: 'doors',
    figures: Object.fromEntries(found.map(({ name, ms }) => [name, ms])),
    ratios: {},
    rows: sorted.map(({ name, ms, what, status, tried }) => ({
      door: name,
      'most CPU, ms': ms.toFixed(1),
      status: status || 'none',
      tried,
      'worst input': what,
    })),
    failed: new Map(
      tooMuch.map(({ name, ms }) => [name, `${ms.toFixed(1)} ms of CPU, more than ${MOST_MS}`]),
    ),
  })
  if (tooMuch.length > 0) process.exitCode = 1
}

if (values.help) console.log(HELP)
else await withPostgres('doors', measureAll, { keep: values.keep }).catch(fail)
