// The MCP endpoint: which requests it accepts, how it counts clients, and what it answers when something fails.
import { Agent } from 'node:http'
import type { LookupFunction } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestMarket, type TestMarket } from '../http/market.ts'
import { type RawAnswer, rawCallerOf } from '../http/raw.ts'
import { connectMcp, type McpCaller } from './client.ts'

const OWN_HOST = 'market.test'
const LIST = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
const MOST = 64 * 1024

let m: TestMarket
let mcp: McpCaller
/** A clock that stands still, so that no limit refills by itself. */
let nowMs = Date.now()
/** Every host name resolves to this machine. */
const agent = new Agent({
  lookup: ((_name, _options, found) => found(null, [{ address: '127.0.0.1', family: 4 }])) as LookupFunction,
})

beforeAll(async () => {
  m = await startTestMarket({
    env: {
      MCP_HOSTS: 'mcp.test,tools.test',
      CONSOLE_ORIGINS: 'https://console.test',
      ANSWER_TIMEOUT_MS: '10000',
    },
    overrides: { clock: () => nowMs },
  })
  mcp = await connectMcp(m)
})
afterAll(async () => {
  await mcp.close()
  await m.close()
})

interface Sent {
  method?: string
  host?: string
  headers?: Record<string, string>
}

/** An object is sent as JSON; text as it is. */
function send(
  body: unknown,
  { method = 'POST', host = '127.0.0.1', headers = {} }: Sent = {},
): Promise<RawAnswer> {
  const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  return rawCallerOf(
    `http://${host}:${new URL(m.service.url).port}`,
    agent,
  )({
    method,
    path: '/mcp',
    headers: Object.entries({ ...usual, ...headers }),
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
}

/** The message of an answer, with its status. */
const messageOf = ({ status, text }: RawAnswer) => ({ status, ...JSON.parse(text) })
const refused = (status: number, code: number, message: unknown = expect.any(String)) => ({
  status,
  jsonrpc: '2.0',
  error: { code, message },
  id: null,
})

describe('the door', () => {
  it('answers a message with JSON that nobody keeps', async () => {
    const { status, headers, text } = await send(LIST)
    expect(status).toBe(200)
    expect(headers).toMatchObject({ 'cache-control': 'no-store' })
    expect(headers['content-type']).toMatch(/^application\/json/)
    expect(JSON.parse(text)).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
  })

  it.each(['GET', 'DELETE'])('has nothing for %s: no streams, no sessions', async (method) => {
    const answer = await send(undefined, { method })
    expect(messageOf(answer)).toMatchObject({ status: 405, error: { code: -32_000 } })
    expect(answer.headers.allow).toBe('POST')
  })

  it('takes a notification and says nothing', async () => {
    const { status, text } = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    expect([status, text]).toEqual([202, ''])
  })

  it.each([
    ['nothing', ''],
    ['half of it', '{'],
    ['words', 'tools/list'],
  ])('refuses what is no JSON: %s', async (_, body) => {
    expect(messageOf(await send(body))).toEqual(refused(400, -32_700, 'the body is not JSON'))
  })

  it.each(['null', '1', '"tools/list"', '{}', '{"jsonrpc":"2.0"}'])(
    'refuses what is JSON and no message: %s',
    async (body) => {
      expect(messageOf(await send(body))).toMatchObject({ status: 400, error: { code: expect.any(Number) } })
    },
  )

  it('refuses many messages in one request: they would pass the limits as one', async () => {
    for (const body of [[LIST, LIST], [LIST], []]) {
      expect(messageOf(await send(body))).toEqual(refused(400, -32_600, 'send one message per request'))
    }
  })

  it('refuses a message of more than 64 KiB, and one of more than any tool takes unread', async () => {
    const long = (length: number) => `${JSON.stringify(LIST)}${' '.repeat(length)}`
    const { status, text } = await send(long(2 * 1024 * 1024))
    expect([status, JSON.parse(text)]).toEqual([413, { error: 'request body too large' }])
    expect(messageOf(await send(long(MOST)))).toEqual(
      refused(413, -32_600, `the message has more than ${MOST} bytes`),
    )
    expect((await send(long(MOST - JSON.stringify(LIST).length))).status).toBe(200)
  })

  it('refuses what has many values, or is long elsewhere than in arguments that may be long: all that is wrong with it would be told', async () => {
    const zeros = Array.from({ length: 2_000 }, () => 0)
    const initialize = (icons: number[]) => ({
      ...LIST,
      method: 'initialize',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: {},
        clientInfo: { name: 'a', version: '1', icons },
      },
    })
    const ask = (name: string, args: object, more = {}) => ({
      ...LIST,
      method: 'tools/call',
      params: { name, arguments: args, ...more },
    })
    const long = 'x'.repeat(70_000)
    const TOO_LONG = `the message has more than ${MOST} bytes`
    const TOO_MANY = 'the body has more than 1000 values'
    for (const [reason, message] of [
      [TOO_MANY, initialize(zeros)],
      [
        TOO_MANY,
        { ...LIST, method: 'prompts/get', params: { name: 'find_and_buy', arguments: { want: zeros } } },
      ],
      [TOO_LONG, ask(long, {})],
      [TOO_LONG, ask('get_agent', {}, { _meta: { long } })],
      [TOO_LONG, ask('get_agent', { agent_id: 1, long })],
      [TOO_MANY, ask('get_agent', zeros)],
      [TOO_LONG, ask('submit_proof', {}, { _meta: { long } })],
      [TOO_MANY, ask('submit_proof', {}, { _meta: { zeros } })],
      [TOO_MANY, ask('check_review_content', { content_json: long, zeros })],
      ['the body has more than 10000 values', ask('submit_proof', { proof_data: Array(5).fill(zeros) })],
    ] as const) {
      expect(messageOf(await send(message))).toEqual(refused(413, -32_600, reason))
    }
    for (const [name, args] of [
      ['submit_proof', { proof_data: { zeros, long } }],
      ['check_review_content', { content_json: long }],
    ] as const) {
      expect((await send(ask(name, args))).status).toBe(200)
    }
    // Also for a call with a field of the newer protocol.
    const { status, text } = await send(
      ask('get_agent', { agent_id: 1, long: long.slice(0, 40_000) }, { task: {} }),
    )
    expect([status, text.length < 2_000]).toEqual([200, true])
    const unknown = await send(ask('x'.repeat(30_000), {}))
    expect(unknown.text.length).toBeLessThan(500)
  })

  it('lets pages of the console ask, and no others', async () => {
    const asked = (origin: string) =>
      send('', { method: 'OPTIONS', headers: { origin, 'access-control-request-method': 'POST' } })
    const { headers, status } = await asked('https://console.test')
    expect([status, headers['access-control-allow-origin'], headers['access-control-allow-methods']]).toEqual(
      [204, 'https://console.test', 'POST'],
    )
    expect((await asked('https://elsewhere.test')).headers['access-control-allow-origin']).toBeUndefined()
  })

  it.each(['127.0.0.1', 'localhost', OWN_HOST, 'mcp.test', 'tools.test'])(
    'lets in who calls it %s',
    async (host) => {
      expect((await send(LIST, { host })).status).toBe(200)
    },
  )

  it.each(['elsewhere.test', `${OWN_HOST}.elsewhere.test`, 'console.test'])(
    'does not answer to the name %s, which a page may have given to our address',
    async (host) => {
      expect(messageOf(await send(LIST, { host }))).toEqual(refused(403, -32_600))
    },
  )

  it.each([`https://${OWN_HOST}`, 'https://console.test'])('lets in the pages of %s', async (origin) => {
    expect((await send(LIST, { headers: { origin } })).status).toBe(200)
  })

  it.each(['https://elsewhere.test', 'null', 'http://localhost:3000', 'https://mcp.test', 'nonsense'])(
    'keeps out the pages of %s',
    async (origin) => {
      expect(messageOf(await send(LIST, { headers: { origin } }))).toEqual(refused(403, -32_600))
    },
  )
})

/** Clients name their protocol version in this header; a call without it must get the same answer. */
const VERSION = { 'mcp-protocol-version': '2025-11-25' }
const callOf = (params: object) => ({ ...LIST, method: 'tools/call', params })

describe('a call of a tool', () => {
  it.each([
    ['succeeds', { name: 'get_review_rank', arguments: { agent_id: '1', chain_id: null } }],
    ['succeeds without arguments', { name: 'list_reviews' }],
    ['is watched', { name: 'list_reviews', _meta: { progressToken: 7 } }],
    ['is refused', { name: 'get_review_rank', arguments: { agent_id: -1 } }],
    ['is of no tool', { name: 'constructor', arguments: {} }],
    ['has no arguments that can be read', { name: 'list_reviews', arguments: [] }],
    ['has null as arguments', { name: 'list_reviews', arguments: null }],
    ['has no name', { arguments: {} }],
  ])('that %s is answered the same with and without a protocol version', async (_, params) => {
    const [versioned, plain] = [await send(callOf(params), { headers: VERSION }), await send(callOf(params))]
    expect(messageOf(versioned)).toEqual(messageOf(plain))
    expect(versioned).toMatchObject({ status: 200, headers: { 'cache-control': 'no-store' } })
  })

  it('is answered under the name that it came with', async () => {
    for (const id of ['a "quoted" name', 0, 7]) {
      const answer = await send({ ...callOf({ name: 'list_reviews' }), id }, { headers: VERSION })
      expect(messageOf(answer).id).toBe(id)
    }
  })
})

describe('an answer of a tool', () => {
  const requestsSeen = async () => {
    const text = await (await fetch(`${m.service.url}/metrics`)).text()
    return Number(/_count\{[^}]*route="\/mcp"[^}]*\} (\d+)/.exec(text)?.[1] ?? 0)
  }

  it('has the headers of every other, and is counted as they are', async () => {
    const before = await requestsSeen()
    const answer = await send(callOf({ name: 'list_reviews' }), {
      headers: { ...VERSION, 'x-request-id': 'trace-7', origin: 'https://console.test' },
    })
    expect(answer.headers).toMatchObject({
      'x-request-id': 'trace-7',
      'x-content-type-options': 'nosniff',
      vary: 'Origin',
      'access-control-allow-origin': 'https://console.test',
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(answer.text)),
    })
    await expect.poll(requestsSeen).toBe(before + 1)
  })

  it.each([
    ['short', 1],
    ['longer than what is sent without a copy', 70_000],
  ])('is whole when it is %s, whatever its letters', async (_, letters) => {
    const content = { rating: 5, description: 'ü—"\n'.repeat(letters) }
    const [row] = await m.sql<{ id: bigint }[]>`
      INSERT INTO market.reviews (chain_id, agent_id, merchant_id, product_id, published_hash, proof_kind, proof_id, cashback_bps, content)
      VALUES (${m.chainId}, 1, 1, '\\x01', '\\x00', 1, ${letters}, 0, ${JSON.stringify(content)}) RETURNING internal_id AS id`
    const asked = callOf({ name: 'get_review', arguments: { internal_id: Number(row?.id) } })
    const [versioned, plain] = [await send(asked, { headers: VERSION }), await send(asked)]
    expect(messageOf(versioned)).toEqual(messageOf(plain))
    expect(messageOf(versioned).result.structuredContent.content_json).toEqual(content)
  })

  it('harms nobody when its caller has gone', async () => {
    const asked = { method: 'POST', body: JSON.stringify(callOf({ name: 'list_reviews' })) }
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...VERSION,
    }
    for (let ms = 0; ms < 20; ms += 1) {
      const signal = AbortSignal.timeout(ms)
      await fetch(`${m.service.url}/mcp`, { ...asked, headers, signal }).catch(() => {})
    }
    expect((await mcp.call('list_reviews')).isError).toBe(false)
  })
})

describe('the limit of a tool', () => {
  const LIMITED = 'rate limited: try again in 1 s'

  it.each([
    ['discover_products', { intent: 'weather' }],
    ['check_readiness', { resource: 'http://127.0.0.1/' }],
  ])('turns away from %s after five calls in a second, and from nothing else', async (name, args) => {
    nowMs += 60_000
    for (let count = 0; count < 5; count += 1) expect((await mcp.call(name, args)).text).not.toBe(LIMITED)
    expect(await mcp.call(name, args)).toMatchObject({ isError: true, text: LIMITED })
    expect((await mcp.call('get_review_rank', { agent_id: 1 })).isError).toBe(false)
    expect((await m.call('GET', '/v1/discover?intent=weather')).status).toBe(200)
    nowMs += 1_000
    expect((await mcp.call(name, args)).text).not.toBe(LIMITED)
  })

  it('counts for who calls, with and without a protocol version, whatever they say of themselves', async () => {
    nowMs += 60_000
    const limited = []
    for (let count = 0; count < 7; count += 1) {
      const other = `203.0.113.${count}`
      const { text } = await send(callOf({ name: 'discover_products', arguments: { intent: 'x' } }), {
        headers: { 'x-referrer-client': other, 'x-forwarded-for': other, ...(count % 2 && VERSION) },
      })
      limited.push(text.includes(LIMITED))
    }
    expect(limited).toEqual([false, false, false, false, false, true, true])
  })
})

describe('when something is wrong behind the door', () => {
  const FAILED = { isError: true, text: 'internal error', structured: undefined }
  const ask = () => mcp.call('list_reviews')

  it('a tool says so and nothing of it, and works again afterwards', async () => {
    await m.withoutTable('market.reviews', async () => expect(await ask()).toEqual(FAILED))
    expect((await ask()).isError).toBe(false)
  })

  it('a tool gives up where the records do not answer in time', async () => {
    await m.sql.begin(async (sql) => {
      await sql`LOCK TABLE market.reviews IN ACCESS EXCLUSIVE MODE`
      expect(await ask()).toEqual(FAILED)
    })
    expect((await ask()).isError).toBe(false)
  })

  it('a tool says the same where all records are away', async () => {
    await m.sql`ALTER SCHEMA market RENAME TO market_away`
    try {
      for (const name of ['get_agent_context', 'get_earnings', 'get_agent']) {
        expect(await mcp.call(name, { agent_id: 1 })).toEqual(FAILED)
      }
    } finally {
      await m.sql`ALTER SCHEMA market_away RENAME TO market`
    }
  })
})
