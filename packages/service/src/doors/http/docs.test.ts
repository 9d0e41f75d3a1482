import type { Sql } from '@referrer/database'
import { afterAll, describe, expect, it } from 'vitest'
import { testApp } from '../../app/testing.ts'
import { testContext } from './testing.ts'

const app = testApp(testContext({} as Sql).context)
afterAll(() => app.close())

const linksOf = (html: string) => [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, link]) => link ?? '')

describe.each(['/docs', '/docs/'])('the page at %s', (path) => {
  it('brings everything that it needs from this service', async () => {
    const page = await app.inject(path)
    expect(page.statusCode).toBe(200)
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8')
    const links = linksOf(page.body)
    expect(links.length).toBeGreaterThan(4)
    for (const link of links) {
      const url = new URL(link, `http://service.test${path}`)
      expect(url.host, link).toBe('service.test')
      expect((await app.inject(url.pathname)).statusCode, link).toBe(200)
    }
  })

  it('lets in nothing from elsewhere and nothing written into the page', async () => {
    const { headers, body } = await app.inject(path)
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(body).not.toMatch(/<script>|<style>| style=| on\w+=/)
  })
})

describe('a file of the reference', () => {
  it.each([
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8'],
    ['/docs/swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
    ['/docs/reference.js', 'text/javascript; charset=utf-8'],
    ['/docs/favicon-32x32.png', 'image/png'],
    ['/openapi.json', 'application/json; charset=utf-8'],
  ])('%s is sent again only when it has changed', async (path, type) => {
    const first = await app.inject(path)
    expect(first.statusCode).toBe(200)
    expect(first.headers['content-type']).toBe(type)
    expect(first.headers['x-content-type-options']).toBe('nosniff')
    const again = await app.inject({ url: path, headers: { 'if-none-match': String(first.headers.etag) } })
    expect(again.statusCode).toBe(304)
    expect(again.body).toBe('')
    const weak = await app.inject({ url: path, headers: { 'if-none-match': `W/${first.headers.etag}` } })
    expect(weak.statusCode).toBe(304)
    const other = await app.inject({ url: path, headers: { 'if-none-match': '"another"' } })
    expect(other.rawPayload.equals(first.rawPayload)).toBe(true)
  })

  it('is none of those that the page does not need', async () => {
    for (const path of [
      '/docs/index.html',
      '/docs/package.json',
      '/docs/..%2fdocs.ts',
      '/docs/swagger-ui.js',
    ]) {
      expect((await app.inject(path)).statusCode, path).toBe(404)
    }
  })
})
