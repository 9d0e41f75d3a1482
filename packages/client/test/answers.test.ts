// What stands between client and market, or is no market: answers that are broken, late, or ask for patience.
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, it } from 'vitest'
import { createReferrerClient, type ReferrerClientOptions, ReferrerError } from '../src/index.ts'
import { waitBeforeRetry } from '../src/retries.ts'
import { answering, hangingUp, type StandIn, standIn, thrown } from './world.ts'

const account = privateKeyToAccount(`0x${'11'.repeat(32)}`)
const FINE = answering(200, { repeat: 0.5, one_off: 0.4 })
const LIMITED = answering(429, { error: 'rate limited' }, { 'retry-after': '0' })

let server: StandIn
afterEach(() => server?.close())

async function marketOf(answers: Parameters<typeof standIn>, options: Partial<ReferrerClientOptions> = {}) {
  server = await standIn(...answers)
  return createReferrerClient({ url: server.url, account, ...options })
}
const read = (market: ReturnType<typeof createReferrerClient>) => market.get('/v1/stats/mean-rank')
const register = (market: ReturnType<typeof createReferrerClient>) =>
  market.post('/v1/agent/register', { body: { agent_id: 1 } })
const setCaps = (market: ReturnType<typeof createReferrerClient>) =>
  market.post('/v1/spending-limits', { body: { chain_id: 1 } })

describe('a bad answer', () => {
  it.each<[string, Parameters<typeof answering>, object]>([
    [
      'a page of a proxy',
      [502, '<html>Bad Gateway</html>', { 'content-type': 'text/html' }],
      { status: 502, reason: 'the answer is not one of the market', detail: '<html>Bad Gateway</html>' },
    ],
    ['an empty refusal', [500, ''], { status: 500, detail: 'it is empty' }],
    ['a refusal of another kind', [400, { message: 'no' }], { status: 400, detail: '{"message":"no"}' }],
    ['a refusal that is null', [400, 'null'], { status: 400, detail: 'null' }],
    [
      'a page in the place of JSON',
      [200, '<html>Sign in to the Wi-Fi</html>', { 'content-type': 'text/html' }],
      { status: 200, reason: 'the answer is not JSON (content type text/html)' },
    ],
    ['half of an answer', [200, '{"repeat": 0.'], { status: 200, detail: '{"repeat": 0.' }],
    ['nothing', [200, ''], { status: 200, detail: 'it is empty' }],
  ])('is an error that shows it: %s', async (_, answer, expected) => {
    const error = await thrown(read(await marketOf([answering(...answer)], { retries: 0 })))
    expect(error).toBeInstanceOf(ReferrerError)
    expect(error).toMatchObject(expected)
  })

  it('is shown in part when it is long', async () => {
    const error = await thrown(read(await marketOf([answering(500, 'x'.repeat(100_000))])))
    expect(error.message.length).toBeLessThan(400)
  })

  it('is told in the words of the market, with its detail', async () => {
    const market = await marketOf([
      answering(400, { error: 'invalid request', detail: 'agent_id: a number' }),
    ])
    expect((await thrown(register(market))).message).toBe(
      'invalid request: agent_id: a number (400, POST /v1/agent/register)',
    )
  })

  it('is a redirect, which would hand the credentials on', async () => {
    const market = await marketOf([answering(307, '', { location: 'https://evil.test/' })])
    expect(await thrown(setCaps(market))).toMatchObject({
      status: 307,
      reason: 'the market redirects to https://evil.test/: call that URL if you trust it',
    })
    expect(server.asked.length).toBe(1)
  })

  it('is none at all: nobody listens', async () => {
    const market = await marketOf([FINE], { retries: 0 })
    await server.close()
    expect(await thrown(read(market))).toMatchObject({ status: 0, reason: `no answer from ${server.url}` })
  })

  it('is none within the time', async () => {
    const market = await marketOf([() => {}], { retries: 0, timeoutMs: 50 })
    expect(await thrown(read(market))).toMatchObject({ status: 0, route: 'GET /v1/stats/mean-rank' })
  })
})

describe('a request is repeated', () => {
  it.each<[string, Parameters<typeof standIn>[number]]>([
    ['hangs up', hangingUp],
    ['says 502', answering(502, '')],
    ['says 503', answering(503, { error: 'not now' })],
    ['says 504', answering(504, '')],
    ['limits the rate', LIMITED],
  ])('when it is a read and the market %s', async (_, answer) => {
    expect(await read(await marketOf([answer, answer, FINE]))).toEqual({ repeat: 0.5, one_off: 0.4 })
    expect(server.asked.length).toBe(3)
  })

  it('when it is a write that may be, with a new signature', async () => {
    let second = 1_750_000_000
    const market = await marketOf([hangingUp, answering(200, {})], { now: () => second++ * 1_000 })
    await setCaps(market)
    const [one, other] = server.asked
    expect(one?.body).toBe(other?.body)
    expect(one?.headers['x-agent-timestamp']).not.toBe(other?.headers['x-agent-timestamp'])
    expect(one?.headers['x-agent-signature']).not.toBe(other?.headers['x-agent-signature'])
  })

  it.each<[string, Parameters<typeof standIn>[number]]>([
    ['the rate is limited', LIMITED],
    ['the market says when', answering(503, { error: 'stopping' }, { 'retry-after': '0' })],
  ])('when it is any write that was not looked at, because %s', async (_, answer) => {
    expect(await register(await marketOf([answer, answering(201, { agent_id: 1 })]))).toEqual({ agent_id: 1 })
    expect(server.asked.length).toBe(2)
  })

  it('after the time that the market asks for, else after one that doubles', () => {
    const asked = (attempt: number, answer?: Parameters<typeof waitBeforeRetry>[1]) =>
      waitBeforeRetry({ attempt, isRepeatable: true }, answer)
    expect(asked(3, { status: 429, retryAfterMs: 1_234 })).toBe(1_234)
    expect(asked(0, { status: 503, retryAfterMs: 30_000 })).toBe(30_000)
    for (const attempt of [0, 1, 2, 3]) {
      for (const answer of [undefined, { status: 429, retryAfterMs: undefined }]) {
        expect(asked(attempt, answer)).toBeGreaterThanOrEqual(125 * 2 ** attempt)
        expect(asked(attempt, answer)).toBeLessThanOrEqual(250 * 2 ** attempt)
      }
    }
  })

  it('once on a new session, and no more when that is refused too', async () => {
    const session = { token: 'A'.repeat(43), expires_at: '2100-01-01T00:00:00Z' }
    const refusal = answering(401, { error: 'unauthorized', detail: 'unknown or expired session' })
    const market = await marketOf(
      [
        (response, { url }) => {
          if (url === '/v1/auth/nonce') return answering(200, { nonce: 'a'.repeat(20) })(response)
          if (url === '/v1/auth/session') return answering(200, session)(response)
          return refusal(response)
        },
      ],
      { session, chainId: 1 },
    )
    expect(await thrown(setCaps(market))).toMatchObject({ status: 401 })
    expect(server.asked.map(({ path }) => path)).toEqual([
      '/v1/spending-limits',
      '/v1/auth/nonce',
      '/v1/auth/session',
      '/v1/spending-limits',
    ])
  })
})

describe('a request is not repeated', () => {
  it.each<[string, Parameters<typeof standIn>[number]]>([
    ['nobody knows whether it arrived', hangingUp],
    ['a proxy does not know either', answering(502, '')],
    ['the market does not say when', answering(503, { error: 'not now' })],
    ['the market failed', answering(500, { error: 'internal error' })],
  ])('when it is a write, and %s', async (_, answer) => {
    await thrown(register(await marketOf([answer])))
    expect(server.asked.length).toBe(1)
  })

  it('when it was refused', async () => {
    await thrown(read(await marketOf([answering(404, { error: 'not found' })])))
    await thrown(read(createReferrerClient({ url: server.url })))
    expect(server.asked.length).toBe(2)
  })

  it('more often than it may be', async () => {
    await thrown(read(await marketOf([LIMITED], { retries: 4 })))
    expect(server.asked.length).toBe(5)
    await thrown(read(createReferrerClient({ url: server.url, retries: 0 })))
    expect(server.asked.length).toBe(6)
  })

  it('when the market asks for more patience than we have; the caller is told', async () => {
    const busy = answering(429, { error: 'rate limited' }, { 'retry-after': '3600' })
    expect(await thrown(read(await marketOf([busy])))).toMatchObject({ status: 429, retryAfterMs: 3_600_000 })
    expect(server.asked.length).toBe(1)
  })

  it('when the caller has had enough: at once, while it waits too', async () => {
    const busy = answering(429, { error: 'rate limited' }, { 'retry-after': '25' })
    const controller = new AbortController()
    const market = await marketOf([
      (response) => {
        busy(response)
        setImmediate(() => controller.abort(new Error('enough')))
      },
    ])
    const { signal } = controller
    expect((await thrown(market.get('/v1/stats/mean-rank', { signal }))).message).toBe('enough')
    expect((await thrown(market.get('/v1/stats/mean-rank', { signal }))).message).toBe('enough')
  })
})

describe('Retry-After', () => {
  it.each([
    ['seconds', '120', 120_000],
    ['a date', new Date(1_750_000_060_000).toUTCString(), 60_000],
    ['a date in the past', new Date(1_000).toUTCString(), 0],
    ['nonsense', 'soon', undefined],
  ])('is read when it is %s', async (_, header, expected) => {
    const answer = answering(400, { error: 'no' }, { 'retry-after': header })
    const error = await thrown(read(await marketOf([answer], { now: () => 1_750_000_000_000 })))
    expect(error.retryAfterMs).toBe(expected)
  })
})

it.each(['market.test', 'ftp://market.test', ''])('is no client of "%s"', async (url) => {
  server = await standIn(FINE)
  expect(() => createReferrerClient({ url })).toThrow('the market must be an http or https URL')
})
