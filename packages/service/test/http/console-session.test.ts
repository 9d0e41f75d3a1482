import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { type Answer, BASE_URL, callerOf, cookieOf, OWN_PAGE, sessionOf, signInMessage } from './caller.ts'
import { NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { type RawCaller, rawCallerOf } from './raw.ts'

const PATH = '/console/session'

let m: TestMarket
/** A replica on the same database that people reach by plain HTTP, as in a sandbox. */
let plain: Service
let raw: RawCaller
let owner: LocalAccount
let other: LocalAccount
/** While set, the service's clock stands still. */
let nowMs: number | undefined

beforeAll(async () => {
  const clock = () => nowMs ?? Date.now()
  m = await startTestMarket({
    overrides: { ...NO_WORK, clock },
    env: { CONSOLE_ORIGINS: 'https://console.test' },
  })
  const config = { ...m.service.context.config, publicUrl: 'http://market.test:8080' }
  plain = await startService(config, { ...NO_WORK, clock })
  raw = rawCallerOf(m.service.url)
  owner = m.market.accounts.reviewer
  other = m.market.accounts.stranger
})
afterAll(async () => {
  await plain.stop()
  await m.close()
})
afterEach(() => {
  nowMs = undefined
})

const NO_SESSION = { status: 401, body: { error: 'unauthorized' } }

async function signIn(account: LocalAccount, headers: Record<string, string> = OWN_PAGE): Promise<Answer> {
  const message = await signInMessage(m.call, account.address)
  return m.call('POST', PATH, {
    headers,
    body: { message, signature: await account.signMessage({ message }) },
  })
}

/** The value of the cookie that an answer sets. */
const tokenIn = ({ headers }: Answer) =>
  /^__Host-referrer=([\w-]{43});/.exec(headers.get('set-cookie') ?? '')?.[1] ?? ''

/** Who a page with these headers is told is signed in. */
const addressOf = async (headers: Record<string, string>) =>
  (await m.call('GET', PATH, { headers })).body.address

const newToken = async (account: LocalAccount) => tokenIn(await signIn(account))

/** Changes something that belongs to the caller. */
const setCap = (headers: Record<string, string>, cap = 41) =>
  m.call('POST', '/v1/spending-limits', { headers, body: { chain_id: m.chainId, per_tx_cap_usdc: cap } })
const readCap = (ask: Parameters<TestMarket['call']>[2]) =>
  m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, ask)

describe('signing in to the console', () => {
  it('sets a cookie that scripts cannot read and no other site sends, and shows its token nowhere', async () => {
    nowMs = Date.now()
    const answer = await signIn(owner)
    expect(answer).toMatchObject({
      status: 200,
      body: {
        address: owner.address,
        expires_at: new Date(nowMs + 3_600_000).toISOString().replace('.000Z', 'Z'),
        is_admin: false,
        is_sandbox: false,
      },
    })
    expect(Object.keys(answer.body)).toEqual(['address', 'expires_at', 'is_admin', 'is_sandbox'])
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-referrer=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Secure; Max-Age=3600$/,
    )
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const token = tokenIn(answer)
    const told = await m.call('GET', PATH, { headers: cookieOf(token) })
    expect(told).toMatchObject({ status: 200, body: answer.body })
    const listed = await m.call('GET', '/v1/auth/sessions', { headers: cookieOf(token) })
    for (const { text } of [answer, told, listed]) expect(text).not.toContain(token)
    expect(told.headers.get('set-cookie')).toBeNull()
  })

  it('tells an admin, whose session ends after a quarter of an hour, in the browser too', async () => {
    nowMs = Date.now()
    const answer = await signIn(m.market.accounts.admin)
    expect(answer.body.is_admin).toBe(true)
    expect(answer.headers.get('set-cookie')).toContain('; Max-Age=900')
    const headers = cookieOf(tokenIn(answer))
    expect((await m.call('GET', '/admin/health', { headers })).status).toBe(200)
    nowMs += 900_000
    expect(await m.call('GET', '/admin/health', { headers })).toMatchObject(NO_SESSION)
    expect(await m.call('GET', PATH, { headers })).toMatchObject({
      status: 200,
      body: { address: null, expires_at: null, is_admin: false },
    })
  })

  it('opens a new session each time and closes the one that the browser had', async () => {
    const first = await newToken(owner)
    const answer = await signIn(owner, cookieOf(first))
    const second = tokenIn(answer)
    expect(second).not.toBe(first)
    expect(await addressOf(cookieOf(first))).toBeNull()
    expect(await addressOf(cookieOf(second))).toBe(owner.address)
  })

  it('never takes over a session that somebody planted in the browser', async () => {
    const planted = await newToken(other)
    const token = tokenIn(await signIn(owner, cookieOf(planted)))
    expect(await addressOf(cookieOf(token))).toBe(owner.address)
    expect(await addressOf(cookieOf(planted))).toBeNull()
    const chosen = 'A'.repeat(43)
    expect(tokenIn(await signIn(owner, cookieOf(chosen)))).not.toBe(chosen)
    expect(await addressOf(cookieOf(chosen))).toBeNull()
  })

  it('keeps the session of the browser when the new sign-in is refused', async () => {
    const token = await newToken(owner)
    const message = await signInMessage(m.call, owner.address)
    const body = { message, signature: await other.signMessage({ message }) }
    const answer = await m.call('POST', PATH, { headers: cookieOf(token), body })
    expect(answer).toMatchObject({ status: 401, body: { detail: 'bad signature' } })
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await addressOf(cookieOf(token))).toBe(owner.address)
  })

  it('takes a message once, and no signed request', async () => {
    const message = await signInMessage(m.call, owner.address)
    const body = { message, signature: await owner.signMessage({ message }) }
    expect((await m.call('POST', PATH, { headers: OWN_PAGE, body })).status).toBe(200)
    expect(await m.call('POST', PATH, { headers: OWN_PAGE, body })).toMatchObject(NO_SESSION)
    const signed = { as: owner, headers: OWN_PAGE, body: { domain: 'market.test' } }
    expect(await m.call('POST', PATH, signed)).toMatchObject({
      status: 400,
      body: { error: 'invalid request' },
    })
  })

  it.each<[string, Record<string, string>]>([
    ['without the header', { 'sec-fetch-site': 'same-origin' }],
    ['of another site', { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }],
    ['of another origin of our site', { ...OWN_PAGE, 'sec-fetch-site': 'same-site' }],
    ['without a word about where it is from', { 'x-referrer-console': '1' }],
    [
      'of another origin, by a browser that knows no Sec-Fetch-Site',
      { 'x-referrer-console': '1', origin: 'https://evil.test' },
    ],
  ])('is refused to a page %s, so that nobody is signed in as somebody else', async (_, headers) => {
    const answer = await signIn(owner, headers)
    expect(answer).toMatchObject(NO_SESSION)
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  it('uses another cookie where people come by plain HTTP', async () => {
    nowMs = Date.now()
    const call = callerOf(plain.url)
    const message = await signInMessage(call, owner.address, {
      domain: 'market.test:8080',
      uri: 'http://market.test:8080',
    })
    const body = { message, signature: await owner.signMessage({ message }) }
    const answer = await call('POST', PATH, { headers: OWN_PAGE, body })
    const cookie = answer.headers.get('set-cookie') ?? ''
    expect(cookie).toMatch(/^referrer=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=3600$/)
    const headers = { ...OWN_PAGE, cookie: cookie.split(';')[0] ?? '' }
    expect((await call('GET', PATH, { headers })).body.address).toBe(owner.address)
    expect(await addressOf(headers)).toBeNull()
  })
})

describe('the cookie of the console', () => {
  it('stands for its owner wherever a session or a signature does', async () => {
    const headers = cookieOf(await newToken(owner))
    expect((await setCap(headers, 42)).status).toBe(200)
    expect((await readCap({ headers })).body.per_tx_cap_usdc).toBe(42)
    expect((await readCap({ as: owner })).body.per_tx_cap_usdc).toBe(42)
    const admin = cookieOf(await newToken(m.market.accounts.admin))
    expect((await m.call('GET', '/admin/proofs', { headers: admin })).status).toBe(200)
    expect(await m.call('GET', '/admin/proofs', { headers })).toMatchObject({ status: 403 })
  })

  const foreign: [string, Record<string, string>][] = [
    ['has not the header', { 'sec-fetch-site': 'same-origin' }],
    ['has another value in the header', { 'x-referrer-console': 'true', 'sec-fetch-site': 'same-origin' }],
    ['is made by another site', { ...OWN_PAGE, 'sec-fetch-site': 'cross-site' }],
    ['is made by another origin of our site', { ...OWN_PAGE, 'sec-fetch-site': 'same-site' }],
    ['is made by nobody', { ...OWN_PAGE, 'sec-fetch-site': 'none' }],
    [
      'is made by another site that knows our origin',
      { ...OWN_PAGE, 'sec-fetch-site': 'cross-site', origin: BASE_URL },
    ],
    ['comes from another origin', { 'x-referrer-console': '1', origin: 'https://evil.test' }],
    [
      'comes from an origin that begins as ours',
      { 'x-referrer-console': '1', origin: `${BASE_URL}.evil.test` },
    ],
    ['comes from no origin', { 'x-referrer-console': '1', origin: 'null' }],
    [
      'comes from an origin that may call us with a token',
      { 'x-referrer-console': '1', origin: 'https://console.test' },
    ],
  ]

  it.each(foreign)('counts for nothing in a request that %s', async (_, headers) => {
    const { cookie } = cookieOf(await newToken(owner))
    expect(await setCap({ ...headers, cookie })).toMatchObject(NO_SESSION)
    expect(await readCap({ headers: { ...headers, cookie } })).toMatchObject(NO_SESSION)
    expect(await m.call('DELETE', PATH, { headers: { ...headers, cookie } })).toMatchObject(NO_SESSION)
    expect(await m.call('GET', PATH, { headers: { ...headers, cookie } })).toMatchObject(NO_SESSION)
    expect(await addressOf({ ...OWN_PAGE, cookie })).toBe(owner.address)
  })

  it('goes by the Origin where a browser sends no Sec-Fetch-Site, and a write needs one', async () => {
    const { cookie } = cookieOf(await newToken(owner))
    const header = { 'x-referrer-console': '1', cookie }
    expect((await readCap({ headers: header })).status).toBe(200)
    expect((await setCap({ ...header, origin: BASE_URL })).status).toBe(200)
    expect(await setCap(header)).toMatchObject(NO_SESSION)
  })

  it('yields to a token and to a signature, also to wrong ones', async () => {
    const headers = cookieOf(await newToken(owner))
    await setCap(headers, 43)
    const others = await sessionOf(m.call, other)
    await m.call('POST', '/v1/spending-limits', {
      as: other,
      body: { chain_id: m.chainId, per_tx_cap_usdc: 44 },
    })
    expect((await readCap({ headers, token: others })).body.per_tx_cap_usdc).toBe(44)
    expect((await readCap({ headers, as: other })).body.per_tx_cap_usdc).toBe(44)
    expect(await readCap({ headers: { ...headers, authorization: 'Bearer x' } })).toMatchObject(NO_SESSION)
    expect(await readCap({ headers: { ...headers, 'x-agent-timestamp': '1' } })).toMatchObject(NO_SESSION)
  })

  it('opens no other session by itself', async () => {
    const headers = cookieOf(await newToken(owner))
    expect(
      (await m.call('POST', '/v1/auth/session', { headers, body: { domain: 'market.test' } })).status,
    ).toBe(401)
  })

  it.each([
    ['twice, with another', (token: string) => `__Host-referrer=${'B'.repeat(43)}; __Host-referrer=${token}`],
    ['twice', (token: string) => `__Host-referrer=${token}; __Host-referrer=${token}`],
    ['under the name of plain HTTP', (token: string) => `referrer=${token}`],
    ['under another name', (token: string) => `x__Host-referrer=${token}`],
    ['in quotes', (token: string) => `__Host-referrer="${token}"`],
    ['with more behind it', (token: string) => `__Host-referrer=${token}x`],
    ['in the value of another', (token: string) => `a=b,__Host-referrer=${token}`],
    ['in another case', (token: string) => `__host-referrer=${token}`],
  ])('does not count when it is sent %s', async (_, cookie) => {
    const token = await newToken(owner)
    expect(await readCap({ headers: { ...OWN_PAGE, cookie: cookie(token) } })).toMatchObject(NO_SESSION)
  })

  it('is found among others', async () => {
    const cookie = `theme=dark; __Host-referrer=${await newToken(owner)}; __Host-referrer2=x; lang=en`
    expect((await readCap({ headers: { ...OWN_PAGE, cookie } })).status).toBe(200)
  })

  it('does not count when a header is repeated', async () => {
    const { cookie } = cookieOf(await newToken(owner))
    for (const twice of [
      ['x-referrer-console', '1'],
      ['sec-fetch-site', 'same-origin'],
    ] as const) {
      const headers = [...Object.entries({ ...OWN_PAGE, cookie }), twice]
      expect((await raw({ method: 'GET', path: PATH, headers })).status).toBe(401)
    }
  })

  it('is never offered to pages of other origins', async () => {
    for (const origin of ['https://console.test', 'https://evil.test', BASE_URL]) {
      const headers = {
        origin,
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'content-type,x-referrer-console',
      }
      const answer = await m.call('OPTIONS', PATH, { headers })
      expect(answer.headers.get('access-control-allow-headers') ?? '').not.toContain('x-referrer-console')
      expect(answer.headers.get('access-control-allow-credentials')).toBeNull()
    }
  })

  it('is removed and its session closed by signing out, at once and on every replica', async () => {
    const token = await newToken(owner)
    const onPlain = callerOf(plain.url)
    const path = `/v1/spending-limits?chain_id=${m.chainId}`
    expect((await onPlain('GET', path, { token })).status).toBe(200)
    const answer = await m.call('DELETE', PATH, { headers: cookieOf(token) })
    expect(answer).toMatchObject({ status: 204, text: '' })
    expect(answer.headers.get('content-type')).toBeNull()
    expect(answer.headers.get('set-cookie')).toBe(
      '__Host-referrer=; Path=/; HttpOnly; SameSite=Strict; Secure; Max-Age=0',
    )
    expect(await addressOf(cookieOf(token))).toBeNull()
    expect((await onPlain('GET', path, { token })).status).toBe(401)
    expect((await m.call('DELETE', PATH, { headers: OWN_PAGE })).status).toBe(204)
  })
})

describe('the sessions of a wallet', () => {
  const list = async (token: string) => (await m.call('GET', '/v1/auth/sessions', { token })).body.sessions
  const close = (token: string, id: string) => m.call('DELETE', `/v1/auth/sessions/${id}`, { token })
  const isOpen = async (token: string) => (await readCap({ token })).status === 200

  it('are listed, newest first, with the browser that opened each', async () => {
    const account = m.market.accounts.buyer
    nowMs = Date.now()
    const message = await signInMessage(m.call, account.address)
    const body = { message, signature: await account.signMessage({ message }) }
    const named = await m.call('POST', PATH, {
      headers: { ...OWN_PAGE, 'user-agent': `Firefox ${'x'.repeat(300)}` },
      body,
    })
    nowMs += 1_000
    const token = await sessionOf(m.call, account)
    expect(await list(token)).toEqual([
      {
        session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        opened_at: new Date(nowMs).toISOString().replace('.000Z', 'Z'),
        expires_at: new Date(nowMs + 3_600_000).toISOString().replace('.000Z', 'Z'),
        is_current: true,
        may_only_read: false,
        user_agent: expect.any(String),
      },
      expect.objectContaining({
        is_current: false,
        user_agent: `Firefox ${'x'.repeat(192)}`,
        opened_at: new Date(nowMs - 1_000).toISOString().replace('.000Z', 'Z'),
      }),
    ])
    expect((await list(tokenIn(named))).map((each: { is_current: boolean }) => each.is_current)).toEqual([
      false,
      true,
    ])
    nowMs += 3_599_500
    expect(await list(token)).toHaveLength(1)
  })

  it('can be closed one by one by their wallet only', async () => {
    const [own, second, foreign] = [
      await sessionOf(m.call, owner),
      await sessionOf(m.call, owner),
      await sessionOf(m.call, other),
    ]
    const current = (await list(second)).find((each: { is_current: boolean }) => each.is_current)
    expect(await close(foreign, current.session_id)).toMatchObject({
      status: 404,
      body: { error: 'not found' },
    })
    expect(await isOpen(second)).toBe(true)
    expect(await close(own, current.session_id)).toMatchObject({ status: 204 })
    expect(await isOpen(second)).toBe(false)
    expect(await isOpen(own)).toBe(true)
    expect(await close(own, current.session_id)).toMatchObject({ status: 404 })
    expect(await close(own, 'x')).toMatchObject({ status: 400, body: { error: 'invalid session_id' } })
  })

  it('are closed together, but for the one that asks and those of others', async () => {
    const [own, second, foreign] = [
      await sessionOf(m.call, owner),
      await newToken(owner),
      await sessionOf(m.call, other),
    ]
    expect((await m.call('DELETE', '/v1/auth/sessions', { token: own })).status).toBe(204)
    expect([await isOpen(own), await isOpen(second), await isOpen(foreign)]).toEqual([true, false, true])
    expect(await list(own)).toHaveLength(1)
  })

  it('of a contract wallet are those of the chain that it signed in on', async () => {
    const address = Buffer.from(owner.address.slice(2), 'hex')
    const token = await sessionOf(m.call, owner)
    await m.call('DELETE', '/v1/auth/sessions', { token })
    const ofChain = await sessionOf(m.call, owner)
    const [opened] = await m.sql`
      UPDATE market.sessions SET chain_id = ${m.chainId}
      WHERE address = ${address} AND session_id = ${(await list(ofChain))[0].session_id} RETURNING session_id`
    // The account without a chain holds the key of the address, on every chain.
    expect(await list(token)).toHaveLength(2)
    expect(await list(ofChain)).toMatchObject([{ session_id: opened?.session_id, is_current: true }])
    await m.call('DELETE', '/v1/auth/sessions', { token: ofChain })
    expect(await isOpen(token)).toBe(true)
  })
})
