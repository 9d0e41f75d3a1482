import { buildConsole, openConsole } from '@referrer/console'
import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { until } from '../../src/machinery/workers/testing.ts'
import { must } from './caller.ts'
import { BASE_URL, generic, startTestMarket, type TestMarket } from './market.ts'
import { publish, registered, sell } from './reviews.ts'

const NASTY = `</text><script>alert(1)</script>&"'\u202E${'w'.repeat(150)}`
const HOSTILE = `\uFFFE\uD83D\uDE00 <svg onload=x> ${'e\u0301\u0301\u0301'.repeat(400)}`

let m: TestMarket
let product: Product
let agentId: bigint

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(new URL(path, m.service.url), { headers })

beforeAll(async () => {
  m = await startTestMarket({
    overrides: { console: await openConsole(await buildConsole()) },
    env: { RATE_LIMIT_PER_SECOND: '1000', RATE_LIMIT_BURST: '1000' },
  })
  const { merchant, reviewer } = m.market.accounts
  const merchantId = await openMerchant(m.market, merchant)
  agentId = await registerIdentity(m.market, reviewer)
  await must(m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: 0 } }))
  const profile = { merchant_id: 0, description: NASTY, landing_page_url: '' }
  await must(m.call('POST', '/v1/merchant/profile', { as: merchant, body: profile }))
  product = await sell(m, merchantId, 1, 'https://shop.test/buy')
  const reviewId = await publish(m.market, { owner: reviewer, agentId, product, content: generic(4, 'Good') })
  await m.indexed()
  await registered(m, reviewId, generic(4, 'Good'))
  await until(
    async () => (await must(m.call('GET', '/v1/product'))).products.length === 1,
    'the listing of the product',
  )
})
afterAll(() => m.close())

/** Width and height of a PNG. */
async function sizeOf(answer: Response): Promise<[number, number]> {
  const bytes = Buffer.from(await answer.arrayBuffer())
  expect(bytes.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1A\n')
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)]
}

describe('preview pictures', () => {
  it('are there for the market and for everything that has a page', async () => {
    const paths = ['market', `product/0/${product.productId}`, `reviewer/${agentId}`, 'merchant/0']
    for (const path of paths) {
      const answer = await ask(`/preview/${path}.png`)
      expect([path, answer.status]).toEqual([path, 200])
      expect(answer.headers.get('content-type')).toBe('image/png')
      expect(answer.headers.get('cache-control')).toBe('public, max-age=300')
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
      expect(await sizeOf(answer)).toEqual([1_200, 630])
    }
  })

  it('are sent once to who has them', async () => {
    const etag = String((await ask('/preview/market.png')).headers.get('etag'))
    const again = await ask('/preview/market.png', { 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  })

  it.each([
    'reviewer/77',
    'merchant/77',
    'escrow/1',
    'escrow/0',
    'reviewer/-1',
    'reviewer/01',
    'merchant/9999999999999999',
    `product/0/0x${'ee'.repeat(32)}`,
    'product/0/0x12',
    'else/1',
    '..%2f..%2fetc/passwd',
  ])('are not there for %s', async (path) => {
    const answer = await ask(`/preview/${path}.png`)
    expect([answer.status, await answer.json()]).toEqual([404, { error: 'not found' }])
  })

  it('show what merchants write as text, whatever it is', async () => {
    await m.sql`UPDATE market.merchants SET description = ${HOSTILE}`
    m.clock.aheadMs += 301_000
    expect(await sizeOf(await ask('/preview/merchant/0.png'))).toEqual([1_200, 630])
  })

  it('are few for each client', async () => {
    const answers = await m.atOnce(() =>
      Promise.all(Array.from({ length: 100 }, () => ask('/preview/market.png'))),
    )
    const refused = answers.find(({ status }) => status === 429)
    expect(refused?.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  })
})

describe('crawlers', () => {
  it('learn which pages are not for them, and where the list of pages is', async () => {
    const answer = await ask('/robots.txt')
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    const text = await answer.text()
    for (const path of ['/v1/', '/me', '/shop', '/operator']) expect(text).toContain(`Disallow: ${path}\n`)
    expect(text).toContain(`Sitemap: ${BASE_URL}/sitemap.xml\n`)
  })

  const locations = async (path: string) => {
    const answer = await ask(path)
    expect(answer.headers.get('content-type')).toBe('application/xml; charset=utf-8')
    return [...(await answer.text()).matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url]) => String(url))
  }

  it('find every page by the list of lists', async () => {
    const files = await locations('/sitemap.xml')
    const pages = await Promise.all(files.map((url) => locations(new URL(url).pathname)))
    expect(pages.flat().sort()).toEqual(
      [
        ...['/', '/discover', '/reviewers', '/merchant/0', '/reviewer/0'],
        ...[`/reviewer/${agentId}`, `/product/0/${product.productId}`],
      ]
        .map((path) => BASE_URL + path)
        .sort(),
    )
  })

  it.each(['products-2', 'products-0', 'products-101', 'others-1', 'products-1e0', 'pages-1'])(
    'find no list %s',
    async (name) => expect((await ask(`/sitemap/${name}.xml`)).status).toBe(404),
  )
})
