import { openMerchant } from '@referrer/contracts/local'
import type { LocalAccount } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { routes } from '../../src/app/routes.ts'
import { isChange } from '../../src/kit/route.ts'
import { cookieOf, NAMING_US, sessionOf, signatureHeaders } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'

const ITSELF = '/v1/auth/session'

let m: TestMarket
/** While set, the service's clock stands still. */
let nowMs: number | undefined
let owner: LocalAccount
let other: LocalAccount

beforeAll(async () => {
  m = await startTestMarket({ overrides: { clock: () => nowMs ?? Date.now() } })
  owner = m.market.accounts.reviewer
  other = m.market.accounts.stranger
})
afterAll(() => m.close())
afterEach(() => {
  nowMs = undefined
})

/** Sets a spending limit, which belongs to the wallet that the service takes for the caller. */
const setCap = (cap: number, ask: Parameters<TestMarket['call']>[2]) =>
  m.call('POST', '/v1/spending-limits', { body: { chain_id: m.chainId, per_tx_cap_usdc: cap }, ...ask })

const readCap = (ask: Parameters<TestMarket['call']>[2]) =>
  m.call('GET', `/v1/spending-limits?chain_id=${m.chainId}`, ask)

const tokenOf = (account: LocalAccount) => sessionOf(m.call, account)

/** Opened as the interface says: by a signature over an empty body. */
const openReading = (as: LocalAccount) => m.call('POST', '/v1/auth/session', { as })
const readingTokenOf = async (as: LocalAccount): Promise<string> => (await openReading(as)).body.token

const refused = (detail: string) => ({ status: 401, body: { error: 'unauthorized', detail } })

describe('sessions', () => {
  it('opens a full one for a signed request that names our host', async () => {
    nowMs = Date.now()
    const opened = await m.call('POST', '/v1/auth/session', { as: owner, body: NAMING_US })
    expect(opened.status).toBe(200)
    expect(Object.keys(opened.body)).toEqual(['token', 'expires_at'])
    expect(opened.body.token).toMatch(/^[\w-]{43}$/)
    expect(new Date(opened.body.expires_at).getTime()).toBe(nowMs + 3_600_000)
  })

  it('lasts a quarter of an hour for an admin', async () => {
    nowMs = Date.now()
    const { admin } = m.market.accounts
    const { body } = await m.call('POST', '/v1/auth/session', { as: admin, body: NAMING_US })
    expect(new Date(body.expires_at).getTime()).toBe(nowMs + 900_000)
    nowMs += 900_000
    expect(await m.call('GET', '/admin/proofs', { token: body.token })).toMatchObject(
      refused('unknown or expired session'),
    )
  })

  it('opens none for a signed body that names another host or none', async () => {
    const open = (body: unknown) => m.call('POST', '/v1/auth/session', { as: owner, body })
    for (const domain of ['evil.test', 'market.test:443', 'MARKET.TEST', '', 'market.test.evil.test']) {
      expect(await open({ domain })).toMatchObject(
        refused('the body is for another domain: it must name market.test'),
      )
    }
    for (const body of ['{}', '[]', 'x', '{"domain":1}', '{"domain":"market.test","chain_id":1}']) {
      expect(await open(body)).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    }
    expect(await m.call('POST', '/v1/auth/session', { body: NAMING_US })).toMatchObject(
      refused('signature required'),
    )
    const nothing = await m.call('POST', '/v1/auth/session')
    expect(nothing).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(nothing.body.detail).toContain('/v1/auth/nonce')
  })

  it('opens none with another session: it would never end', async () => {
    const token = await tokenOf(owner)
    expect((await m.call('POST', '/v1/auth/session', { token })).status).toBe(401)
    expect((await m.call('POST', '/v1/auth/session', { token, body: NAMING_US })).status).toBe(401)
  })

  it('keeps no token that could be read from the database', async () => {
    const token = await tokenOf(owner)
    const rows = await m.sql<{ row: string }[]>`SELECT s::text AS row FROM market.sessions AS s`
    const inHex = Buffer.from(token, 'base64url').toString('hex')
    expect(rows.length).toBeGreaterThan(0)
    for (const { row } of rows) expect(row.includes(token) || row.includes(inHex)).toBe(false)
  })

  it('stands for its signer in the place of a signature, for writes too when it is a full one', async () => {
    expect((await setCap(31, { token: await tokenOf(owner) })).status).toBe(200)
    expect((await setCap(32, { token: await tokenOf(other) })).status).toBe(200)
    expect((await readCap({ as: owner })).body.per_tx_cap_usdc).toBe(31)
    expect((await readCap({ as: other })).body.per_tx_cap_usdc).toBe(32)
  })

  it('may repeat a request, which a signature may not', async () => {
    const token = await tokenOf(owner)
    expect((await setCap(33, { token })).status).toBe(200)
    expect((await setCap(33, { token })).status).toBe(200)
  })

  it('shows a merchant its figures [AUTH-29]', async () => {
    const { merchant } = m.market.accounts
    const merchantId = Number(await openMerchant(m.market, merchant))
    await m.indexed()
    await m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: merchantId } })
    const path = `/v1/merchant/${merchantId}/stats`
    for (const token of [await tokenOf(merchant), await readingTokenOf(merchant)]) {
      expect((await m.call('GET', path, { token })).status).toBe(200)
    }
    expect((await m.call('GET', path)).status).toBe(401)
  })

  it.each([
    ['a token that nobody got', `Bearer ${'A'.repeat(43)}`],
    ['a token that is too short', 'Bearer AAAA'],
    ['a token with other characters', `Bearer ${'%'.repeat(43)}`],
    ['no token', 'Bearer'],
    ['an empty token', 'Bearer '],
    ['another scheme', 'Basic dXNlcjpwYXNz'],
    ['nothing', ''],
  ])('refuses %s [AUTH-28]', async (_, authorization) => {
    expect(await readCap({ headers: { authorization } })).toMatchObject({
      status: 401,
      body: { error: 'unauthorized' },
    })
  })

  it('reads the scheme in any case', async () => {
    expect((await readCap({ headers: { authorization: `bearer ${await tokenOf(owner)}` } })).status).toBe(200)
  })

  it('refuses a token once its time is over [AUTH-28]', async () => {
    nowMs = Date.now()
    const token = await tokenOf(owner)
    nowMs += 3_599_999
    expect((await readCap({ token })).status).toBe(200)
    nowMs += 1
    expect(await readCap({ token })).toMatchObject(refused('unknown or expired session'))
  })

  it('refuses a token whose session was closed, and closes no other [AUTH-28]', async () => {
    const [closed, open] = [await tokenOf(owner), await tokenOf(owner)]
    expect(await m.call('DELETE', '/v1/auth/session', { token: closed })).toMatchObject({
      status: 204,
      text: '',
    })
    expect((await readCap({ token: closed })).status).toBe(401)
    expect((await readCap({ token: open })).status).toBe(200)
    expect((await m.call('DELETE', '/v1/auth/session', { token: closed })).status).toBe(401)
  })

  it('is closed with itself only', async () => {
    expect((await m.call('DELETE', '/v1/auth/session', { as: owner })).status).toBe(401)
    expect((await m.call('DELETE', '/v1/auth/session')).status).toBe(401)
  })

  it('decides when a signature comes along: a wrong token is not made good by it', async () => {
    const token = await tokenOf(owner)
    await setCap(41, { token })
    expect((await readCap({ token, as: other })).body.per_tx_cap_usdc).toBe(41)
    expect((await readCap({ token: 'A'.repeat(43), as: owner })).status).toBe(401)
  })
})

describe('a session of a signature over an empty body', () => {
  const READS_ONLY = 'this session may only read: open a full one at POST /v1/auth/session'

  it('has a token and an end, ten minutes ahead [AUTH-24, AUTH-25]', async () => {
    nowMs = Date.now()
    const opened = await openReading(owner)
    expect(opened.status).toBe(200)
    expect(Object.keys(opened.body)).toEqual(['token', 'expires_at'])
    expect(opened.body.token).toMatch(/^[\w-]{43}$/)
    expect(new Date(opened.body.expires_at).getTime()).toBe(nowMs + 600_000)
  })

  it('stands for its signer where something is read, until its end [AUTH-26 otherwise, AUTH-27 otherwise, AUTH-28]', async () => {
    nowMs = Date.now()
    await setCap(51, { as: owner })
    await setCap(52, { as: other })
    const token = await readingTokenOf(owner)
    expect((await readCap({ token })).body.per_tx_cap_usdc).toBe(51)
    expect((await readCap({ token: await readingTokenOf(other) })).body.per_tx_cap_usdc).toBe(52)
    nowMs += 599_999
    expect((await readCap({ token })).status).toBe(200)
    nowMs += 1
    expect(await readCap({ token })).toMatchObject(refused('unknown or expired session'))
  })

  it('writes nothing, and is told how to open one that may', async () => {
    const token = await readingTokenOf(owner)
    await setCap(53, { as: owner })
    const answer = await setCap(54, { token })
    expect(answer).toMatchObject({ status: 401, body: { error: 'unauthorized' } })
    expect(answer.body.detail).toMatch(READS_ONLY)
    expect(answer.body.detail).toContain(NAMING_US)
    expect((await readCap({ token })).body.per_tx_cap_usdc).toBe(53)
  })

  it('calls every route that changes nothing, and no other', async () => {
    const token = await readingTokenOf(owner)
    const asked = routes.filter(({ auth }) => auth === 'caller' || auth === 'session')
    const served = asked.filter(({ isServed }) => isServed?.(m.service.context.config) ?? true)
    // Its own end comes last.
    const inOrder = served.toSorted((a, b) => Number(a.path === ITSELF) - Number(b.path === ITSELF))
    const readers: string[] = []
    for (const route of inOrder) {
      const { status, body } = await m.call(route.method, route.path.replaceAll(/\{\w+\}/g, '1'), { token })
      const isRefused = status === 401
      expect(isRefused, `${route.method} ${route.path}`).toBe(isChange(route))
      if (isRefused) expect(body.detail).toMatch(READS_ONLY)
      else if (route.method !== 'GET') readers.push(`${route.method} ${route.path}`)
    }
    expect(readers.sort()).toEqual([
      'DELETE /v1/auth/session',
      'POST /v1/cashback-rate/step1',
      'POST /v1/merchant/product/readiness',
      'POST /v1/votes/step1',
    ])
    expect(await readCap({ token })).toMatchObject(refused('unknown or expired session'))
  })

  it("is never an admin's", async () => {
    const { admin } = m.market.accounts
    const token = await readingTokenOf(admin)
    for (const { method, path } of routes.filter(({ auth }) => auth === 'admin')) {
      const { status, body } = await m.call(method, path.replaceAll(/\{\w+\}/g, '1'), { token })
      expect([status, body.error], `${method} ${path}`).toEqual([401, 'unauthorized'])
    }
    expect((await m.call('GET', '/admin/proofs', { token: await readingTokenOf(owner) })).status).toBe(403)
    expect(await m.call('GET', '/console/session', { headers: cookieOf(token) })).toMatchObject({
      body: { address: admin.address, is_admin: false },
    })
  })

  it('is shown as what it is in the list of sessions', async () => {
    const token = await readingTokenOf(other)
    const { sessions } = (await m.call('GET', '/v1/auth/sessions', { token })).body
    expect(sessions.find((one: { is_current: boolean }) => one.is_current)).toMatchObject({
      may_only_read: true,
    })
  })

  it('is what the signature of a GET can open, once', async () => {
    const headers = await signatureHeaders(m.market.accounts.buyer, '', Math.floor(Date.now() / 1_000))
    expect(await readCap({ headers })).toMatchObject({ body: { error: 'no spending limit set' } })
    expect((await m.call('POST', '/v1/auth/session', { headers })).status).toBe(200)
    expect(await m.call('POST', '/v1/auth/session', { headers })).toMatchObject(refused('replayed request'))
  })
})
