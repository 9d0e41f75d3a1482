import { once } from 'node:events'
import { connect } from 'node:net'
import type { Sql } from '@referrer/database'
import { freshDatabase, type TestDatabase } from '@referrer/database/testing'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { testApp } from '../../app/testing.ts'
import type { Context } from '../../kit/context.ts'
import { migrations } from '../../machinery/db/migrations.ts'
import type { ReplicaState, Replicas } from '../../machinery/replicas/replicas.ts'
import { followed, testConfig, testContext } from './testing.ts'

let database: TestDatabase
let sql: Sql
let app: FastifyInstance | undefined

beforeAll(async () => {
  database = await freshDatabase(migrations)
  sql = database.sql
})
afterAll(() => database.drop())
afterEach(async () => {
  await app?.close()
  app = undefined
})

async function listen(overrides: Partial<Context> = {}) {
  const { context, logged } = testContext(sql, overrides)
  app = testApp(context)
  app.get('/bug', async () => {
    throw Object.assign(new Error('password is hunter2'), { statusCode: 400, code: 'OOPS' })
  })
  app.get('/agents/:id', async () => ({}))
  app.post('/echo', async ({ body }) => ({ got: (body as Buffer).length }))
  app.get('/headers', async ({ headers, log }) => {
    log.info({ headers, req: { headers } }, 'headers')
    return {}
  })
  const url = await app.listen({ port: 0 })
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${url}${path}`, init)
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  return { url, get, logged }
}

/** Number of the log level in pino. */
const INFO = 30

const post = (body: string, type = 'application/json') => ({
  method: 'POST',
  body,
  headers: { 'content-type': type },
})

describe('the app', () => {
  it('answers an unknown route with 404', async () => {
    const { get } = await listen()
    expect(await get('/v1/nothing')).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(await get('/healthz', { method: 'DELETE' })).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
  })

  it('answers 500 without a word of what went wrong, and logs it', async () => {
    const { get, logged } = await listen()
    expect(await get('/bug')).toMatchObject({ status: 500, body: { error: 'internal error' } })
    expect(logged.join('')).toContain('hunter2')
  })

  it('takes a body of 64 KiB and refuses one byte more', async () => {
    const { get } = await listen()
    const largest = JSON.stringify('x'.repeat(64 * 1024 - 2))
    expect(await get('/echo', post(largest))).toMatchObject({ status: 200, body: { got: largest.length } })
    expect(await get('/echo', post(`${largest} `))).toMatchObject({
      status: 413,
      body: { error: 'request body too large' },
    })
  })

  it('does not wait for ever for the rest of a request', async () => {
    await listen()
    expect(app?.server.requestTimeout).toBe(60_000)
  })

  it('refuses what it cannot read', async () => {
    const { get } = await listen()
    expect(await get('/%zz')).toMatchObject({ status: 400, body: { error: 'bad request' } })
    expect(await get('/echo', post('{}', 'nonsense'))).toMatchObject({
      status: 415,
      body: { error: 'unsupported content type' },
    })
    expect(await get(`/agents/${'9'.repeat(10_000)}`)).toMatchObject({ status: 200 })
  })

  it('answers what is no request at all like everything else that it refuses', async () => {
    const { url } = await listen()
    const say = async (text: string) => {
      const caller = connect(Number(new URL(url).port), '127.0.0.1')
      caller.write(text)
      let said = ''
      for await (const chunk of caller) said += chunk
      return said
    }
    const unreadable = await say('GET / HTTP/9.9\r\n\r\n')
    expect(unreadable).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/)
    expect(unreadable).toMatch(/\r\n\r\n\{"error":"bad request"\}$/)
    const tooLong = await say(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)
    expect(tooLong).toMatch(/^HTTP\/1\.1 431 /)
    expect(tooLong).toMatch(/\r\n\r\n\{"error":"request headers too large"\}$/)
  })

  it('takes no failure of its own for a caller that goes away in the middle of a request', async () => {
    const { url, logged } = await listen()
    const caller = connect(Number(new URL(url).port), '127.0.0.1')
    caller.write(
      'POST /echo HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{',
    )
    const [request] = await once(app?.server ?? caller, 'request')
    caller.destroy()
    await new Promise((resolve) => request.once('close', resolve))
    expect(logged.join('')).not.toContain('a request failed')
  })

  it('names every request: as the caller did, when that is a decent name', async () => {
    const { get, logged } = await listen()
    const id = async (given: string) =>
      (await get('/v1/nothing', { headers: { 'x-request-id': given } })).headers.get('x-request-id')
    expect(await id('trace-1')).toBe('trace-1')
    expect(await id('a b')).toMatch(/^[0-9a-f-]{36}$/)
    expect(await id('x'.repeat(65))).toMatch(/^[0-9a-f-]{36}$/)
    expect(logged.filter((line) => JSON.parse(line).reqId === 'trace-1')).toHaveLength(1)
  })

  it('tells browsers to believe the content type of every answer, errors too', async () => {
    const { get } = await listen()
    for (const path of ['/healthz', '/v1/nothing', '/mcp', '/v1/review?merchant_id=x'])
      expect((await get(path)).headers.get('x-content-type-options'), path).toBe('nosniff')
  })

  it('has a line for each tool that was called, but for those that only read', async () => {
    const { get, logged } = await listen()
    const usual = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
    const tell = (version: string) => ({ ...usual, 'mcp-protocol-version': version })
    const call = (name: string) =>
      JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } })
    for (const name of ['list_reviews', 'submit_proof', 'get_agent', 'no such tool']) {
      await get('/mcp', { method: 'POST', body: call(name), headers: tell('2025-11-25') })
      await get('/mcp', { method: 'POST', body: call(name), headers: usual })
    }
    // The line is written after the answer is sent, so the answer may arrive before the line.
    const told = () =>
      logged
        .map((line) => JSON.parse(line))
        .filter(({ msg, level }) => msg === 'request' && level === INFO)
        .map(({ path, operation }) => [path, operation])
    await expect.poll(told).toEqual([
      ['/mcp', 'submit_proof'],
      ['/mcp', 'submit_proof'],
      ['/mcp', undefined],
      ['/mcp', undefined],
    ])
  })

  it('logs no secret of a request', async () => {
    const { get, logged } = await listen()
    const headers = {
      authorization: 'Bearer hunter2',
      cookie: 'session=hunter2',
      'X-Agent-Signature': '0xhunter2',
      'PAYMENT-SIGNATURE': 'hunter2',
      accept: 'visible/thing',
    }
    await get('/headers?token=hunter2', { headers })
    expect(logged.join('')).toContain('visible/thing')
    expect(logged.join('')).not.toContain('hunter2')
  })
})

describe('GET /healthz', () => {
  it('answers without the database', async () => {
    const broken = new Proxy(sql, { apply: () => Promise.reject(new Error('touched the database')) })
    const { get } = await listen({ sql: broken })
    expect(await get('/healthz')).toMatchObject({ status: 200, body: { status: 'ok' } })
  })
})

const NO_REPLICAS: Replicas = {
  choose: async () => undefined,
  wrote: async () => {},
  states: () => [],
  close: async () => {},
}

describe('GET /readyz', () => {
  it('says ready when the database answers and every chain is followed closely', async () => {
    const workers = [
      { name: 'jobs', state: 'failing', restarts: 2, error: 'postgres://user:hunter2@host' },
    ] as const
    const { get } = await listen({ workerHealth: () => [...workers] })
    expect(await get('/readyz')).toMatchObject({
      status: 200,
      body: {
        status: 'ready',
        checks: {
          database: { ok: true, detail: 'answers' },
          'chain 31337': { ok: true, detail: '0 blocks, 0 s behind' },
        },
        workers: [{ name: 'jobs', state: 'failing', restarts: 2 }],
      },
    })
    expect(JSON.stringify((await get('/readyz')).body)).not.toContain('hunter2')
  })

  it.each([
    ['is too many seconds behind', { lagSeconds: 31 }, '0 blocks, 31 s behind: too far'],
    ['is too many blocks behind', { indexed: 109n }, '11 blocks, 0 s behind: too far'],
    ['has no record yet', { indexed: null, lagSeconds: null }, 'nothing recorded yet'],
    [
      'has grown old because its nodes do not answer',
      { lagSeconds: 40, error: 'https://user:hunter2@rpc.example/v2/hunter2?k=hunter2 timed out' },
      '0 blocks, 40 s behind: too far; rpc.example timed out',
    ],
  ])('says not ready when a chain %s', async (_, change, detail) => {
    const config = testConfig({ MAX_LAG_SECONDS: '30', MAX_LAG_BLOCKS: '10' })
    const { get } = await listen({ config, chainHealth: async () => [{ ...followed, ...change }] })
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      body: { status: 'not ready', checks: { 'chain 31337': { ok: false, detail } } },
    })
  })

  it('says not ready when the newest block of a chain is older than its setting allows', async () => {
    const config = testConfig()
    const [chain] = config.chains
    const ask = async (maxHeadAgeSeconds: number) => {
      const { get } = await listen({
        config: { ...config, chains: [{ ...chain, maxHeadAgeSeconds }] },
        chainHealth: async () => [{ ...followed, headAgeSeconds: 61 }],
      })
      return get('/readyz')
    }
    expect(await ask(61)).toMatchObject({ status: 200 })
    expect(await ask(60)).toMatchObject({
      status: 503,
      body: { checks: { 'chain 31337': { detail: '0 blocks, 0 s behind; the newest block is 61 s old' } } },
    })
  })

  it('stays ready while a node fails and the records are still fresh, and tells of it', async () => {
    const { get } = await listen({
      chainHealth: async () => [{ ...followed, error: 'rpc.example timed out' }],
    })
    expect(await get('/readyz')).toMatchObject({
      status: 200,
      body: {
        checks: { 'chain 31337': { ok: true, detail: '0 blocks, 0 s behind; rpc.example timed out' } },
      },
    })
  })

  it('says ready at exactly the limits', async () => {
    const config = testConfig({ MAX_LAG_SECONDS: '30', MAX_LAG_BLOCKS: '10' })
    const { get } = await listen({
      config,
      chainHealth: async () => [{ ...followed, lagSeconds: 30, indexed: 110n }],
    })
    expect(await get('/readyz')).toMatchObject({ status: 200 })
  })

  it('counts the lag of the replicas that it reads from, and stays ready without them', async () => {
    const config = testConfig({ MAX_LAG_SECONDS: '30' })
    const ask = async (...states: ReplicaState[]) => {
      const replicas = { ...NO_REPLICAS, states: () => states }
      const { get } = await listen({
        config,
        replicas,
        chainHealth: async () => [{ ...followed, lagSeconds: 9 }],
      })
      return get('/readyz')
    }
    const far = { lagSeconds: 40, isUsed: false }
    const gone = { lagSeconds: undefined, isUsed: false }
    expect(await ask({ lagSeconds: 21, isUsed: true }, far, gone)).toMatchObject({
      status: 200,
      body: {
        checks: {
          'chain 31337': { ok: true, detail: '0 blocks, 30 s behind' },
          'replica 1': { ok: true, detail: '21.0 s behind' },
          'replica 2': { ok: true, detail: 'not used: 40.0 s behind' },
          'replica 3': { ok: true, detail: 'not used: it does not answer, or lags too far' },
        },
      },
    })
    expect(await ask(far, { lagSeconds: 22, isUsed: true })).toMatchObject({
      status: 503,
      body: { checks: { 'chain 31337': { ok: false, detail: '0 blocks, 31 s behind: too far' } } },
    })
  })

  it('says not ready while a configured chain is not followed', async () => {
    const { get } = await listen({ chainHealth: async () => [] })
    expect((await get('/readyz')).body.checks['chain 31337']).toEqual({
      ok: false,
      detail: 'not followed yet',
    })
  })

  it('says not ready when the database does not answer in time', async () => {
    const silent = new Proxy(sql, { apply: () => new Promise(() => {}) })
    const { get } = await listen({ sql: silent })
    expect(await get('/readyz')).toMatchObject({
      status: 503,
      body: { checks: { database: { ok: false, detail: 'does not answer' } } },
    })
  })
})
