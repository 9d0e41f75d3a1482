import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EXPECTED_ROUTES, splitName } from './expected-routes.ts'
import { CONSOLE_ACCOUNT, SILENT_BOT, startTestMarket, type TestMarket } from './market.ts'

const CONSOLE = 'https://console.market.test'
const ELSEWHERE = 'https://elsewhere.test'

let m: TestMarket

beforeAll(async () => {
  m = await startTestMarket({
    env: { ...SILENT_BOT, ...CONSOLE_ACCOUNT, CONSOLE_ORIGINS: `${CONSOLE},http://localhost:5173` },
  })
})
afterAll(() => m.close())

const from = (origin: string) => ({ headers: { origin } })
const preflight = (path: string, method: string, origin: string) =>
  m.call('OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': method,
      'access-control-request-headers': 'content-type,x-agent-signature,x-agent-timestamp',
    },
  })
const allowed = ({ headers }: { headers: Headers }) => headers.get('access-control-allow-origin')
/** A path with a value for each parameter. */
const addressOf = (path: string) => path.replaceAll(/\{\w+\}/g, '1')

const isPublicRead = ([name, { auth }]: (typeof EXPECTED_ROUTES)[number]) =>
  auth === 'none' && name.startsWith('GET ')
const publicReads = EXPECTED_ROUTES.filter(isPublicRead).map(([name]) => splitName(name)[1])
const others = EXPECTED_ROUTES.filter((route) => !isPublicRead(route)).map(([name]) => splitName(name))

describe('pages of other origins', () => {
  it.each(publicReads)('any page may read GET %s', async (path) => {
    const answer = await m.call('GET', addressOf(path), from(ELSEWHERE))
    expect(allowed(answer)).toBe('*')
    expect(answer.headers.get('access-control-expose-headers')).toContain('retry-after')
  })

  it.each(others)('only the console may call %s %s', async (method, path) => {
    const answer = await m.call(method, addressOf(path), from(ELSEWHERE))
    expect(allowed(answer)).toBeNull()
    expect(answer.headers.get('vary')).toContain('Origin')
    expect(allowed(await m.call(method, addressOf(path), from(CONSOLE)))).toBe(CONSOLE)
  })

  it.each(others)(
    'a browser that asks whether it may send %s %s hears yes for the console only',
    async (method, path) => {
      const yes = await preflight(addressOf(path), method, CONSOLE)
      expect(yes).toMatchObject({ status: 204, text: '' })
      expect(allowed(yes)).toBe(CONSOLE)
      expect(yes.headers.get('access-control-allow-methods')?.split(', ')).toContain(method)
      for (const name of ['content-type', 'authorization', 'x-agent-timestamp', 'x-agent-signature']) {
        expect(yes.headers.get('access-control-allow-headers')?.split(', ')).toContain(name)
      }
      const no = await preflight(addressOf(path), method, ELSEWHERE)
      expect(allowed(no)).toBeNull()
      expect(no.headers.get('access-control-allow-methods')).toBeNull()
    },
  )

  it('a browser that asks whether it may read hears yes, and nothing of the writes beside it', async () => {
    for (const path of publicReads) {
      const answer = await preflight(addressOf(path), 'GET', ELSEWHERE)
      expect(allowed(answer)).toBe('*')
      expect(answer.headers.get('access-control-allow-methods')).toBe('GET')
    }
  })

  it.each([
    'null',
    `${CONSOLE}.evil.test`,
    'https://evil.test',
    `${CONSOLE}:444`,
    CONSOLE.replace('https', 'http'),
    CONSOLE.toUpperCase(),
    '',
    '*',
  ])('the origin %j is not the console', async (origin) => {
    expect(allowed(await m.call('POST', '/v1/auth/session', from(origin)))).toBeNull()
    expect(allowed(await preflight('/v1/auth/session', 'POST', origin))).toBeNull()
  })

  it('every origin of the console is its own', async () => {
    expect(allowed(await preflight('/v1/auth/session', 'POST', 'http://localhost:5173'))).toBe(
      'http://localhost:5173',
    )
  })

  it('what a signed route answers depends on the origin, and says so even when there is none', async () => {
    expect((await m.call('POST', '/v1/auth/session')).headers.get('vary')).toContain('Origin')
    expect((await m.call('GET', '/v1/review')).headers.get('vary')).toBeNull()
  })

  it('no page may send cookies', async () => {
    const answers = [
      await m.call('GET', '/v1/review', from(CONSOLE)),
      await m.call('POST', '/v1/auth/session', from(CONSOLE)),
      await preflight('/v1/auth/session', 'POST', CONSOLE),
    ]
    for (const { headers } of answers) expect(headers.get('access-control-allow-credentials')).toBeNull()
  })

  it('a page can read a refusal too', async () => {
    expect(allowed(await m.call('GET', '/v1/review?page=x', from(ELSEWHERE)))).toBe('*')
    const body = 'x'.repeat(2 * 1024 * 1024 + 1)
    const { buyer } = m.market.accounts
    const answer = await m.call('POST', '/v1/spending-limits', { as: buyer, body, ...from(CONSOLE) })
    expect(answer.status).toBe(413)
    expect(allowed(answer)).toBe(CONSOLE)
  })

  it('a preflight needs no credentials and asks for nothing of a route that is not there', async () => {
    expect((await preflight('/v1/nothing', 'GET', CONSOLE)).status).toBe(404)
  })
})
