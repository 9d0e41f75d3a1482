import { buildConsole, openConsole } from '@referrer/console'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cookieOf, must, sessionOf } from './caller.ts'
import { startTestMarket, type TestMarket } from './market.ts'

let m: TestMarket
const page = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, m.service.url), { headers: { accept: 'text/html', ...headers }, redirect: 'manual' })

/** What the browser goes on with. */
const stateIn = (html: string): string => /id="state">([^<]*)</.exec(html)?.[1] ?? ''

beforeAll(async () => {
  m = await startTestMarket({ overrides: { console: await openConsole(await buildConsole()) } })
})
afterAll(() => m.close())

describe('the console', () => {
  it('is at /, whole without JavaScript, whatever the caller accepts', async () => {
    for (const accept of ['text/html', '*/*']) {
      const answer = await page('/', { accept })
      expect(answer.status).toBe(200)
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8')
      const html = await answer.text()
      expect(html).toMatch(/<div id="app"><a class="skip"[\s\S]*<h1>/)
      expect(html).toMatch(/<title>[^<]+<\/title>/)
    }
  })

  it('allows no inline script or style, and no other origin', async () => {
    const answer = await page('/')
    const policy = String(answer.headers.get('content-security-policy'))
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("script-src 'self';")
    expect(policy).not.toMatch(/unsafe|nonce|sha256|https?:|\*/)
    const html = await answer.text()
    expect(html).not.toMatch(/ style="| on\w+="|<style/)
    const scripts = [...html.matchAll(/<script([^>]*)>/g)].map(([, attributes]) => attributes)
    for (const attributes of scripts) {
      expect(attributes).toMatch(/ src="\/assets\/[\w.-]+\.js"| type="application\/(ld\+)?json"/)
    }
  })

  it('serves its files compressed, for ever where their name tells their content', async () => {
    const html = await (await page('/')).text()
    const path = /src="(\/assets\/[^"]+\.js)"/.exec(html)?.[1] as string
    const answer = await page(path, { 'accept-encoding': 'br' })
    expect(answer.headers.get('content-encoding')).toBe('br')
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect(answer.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    const again = await page(path, { 'if-none-match': String(answer.headers.get('etag')) })
    expect(again.status).toBe(304)
  })

  it('has the theme of the cookie from the first byte', async () => {
    expect(await (await page('/', { cookie: 'theme=dark' })).text()).toContain(
      '<html lang="en" data-theme="dark">',
    )
    expect(await (await page('/', { cookie: 'theme="><script>' })).text()).toContain('<html lang="en">')
  })

  it('says that there is nothing, to people as a page and to programs as JSON', async () => {
    const missing = await page('/nothing/here')
    expect(missing.status).toBe(404)
    expect(await missing.text()).toContain('There is nothing here')
    const asJson = await page('/nothing/here', { accept: 'application/json' })
    expect([asJson.status, await asJson.json()]).toEqual([404, { error: 'not found' }])
    expect((await page('/%E0%A4%A')).status).toBe(400)
  })

  it('renders pages of a session with what belongs to whoever has it, and shows its token nowhere', async () => {
    const { reviewer } = m.market.accounts
    const token = await sessionOf(m.call, reviewer)
    await must(
      m.call('POST', '/v1/spending-limits', {
        headers: cookieOf(token),
        body: { chain_id: m.chainId, per_tx_cap_usdc: 41_000_000 },
      }),
    )
    const answer = await page('/me/spending', { cookie: `theme=dark; __Host-referrer=${token}` })
    expect(answer.headers.get('cache-control')).toBe('private, no-store')
    const html = await answer.text()
    expect(html).toMatch(/<div id="app">[\s\S]* value="41000000"[\s\S]*id="state"/)
    expect(stateIn(html)).toContain('/v1/spending-limits')
    expect(html).not.toContain(token)
  })

  it('renders them as for a stranger without a session, and with one that a browser cannot have been given', async () => {
    const token = await sessionOf(m.call, m.market.accounts.reviewer)
    const other = await sessionOf(m.call, m.market.accounts.stranger)
    for (const cookie of ['', `referrer=${token}`, `__Host-referrer=${token}; __Host-referrer=${other}`]) {
      const answer = await page('/me/spending', { cookie })
      expect(answer.headers.get('cache-control')).toBe('no-cache')
      const html = await answer.text()
      expect(html).toMatch(/<h1>Spending<\/h1>[\s\S]*<noscript>/)
      expect(JSON.parse(stateIn(html)).queries.queries).toEqual([])
    }
  })

  it('shows a session that ended nothing of what it could see', async () => {
    const token = await sessionOf(m.call, m.market.accounts.reviewer)
    await must(m.call('DELETE', '/console/session', { headers: cookieOf(token) }))
    const html = await (await page('/me/spending', { cookie: `__Host-referrer=${token}` })).text()
    expect(html).not.toContain('41000000')
    expect(stateIn(html)).not.toContain('/v1/spending-limits')
  })

  it('renders public pages for everybody alike, whoever asks', async () => {
    const token = await sessionOf(m.call, m.market.accounts.reviewer)
    const html = await (await page('/?who', { cookie: `__Host-referrer=${token}` })).text()
    expect(stateIn(html)).not.toContain('/console/session')
  })

  it('counts the pages that a client asks for', async () => {
    const answers = await m.atOnce(() =>
      Promise.all(Array.from({ length: 120 }, (_, index) => page(`/?asked=${index}`))),
    )
    const statuses = answers.map(({ status }) => status)
    expect(statuses).toContain(429)
  })
})
