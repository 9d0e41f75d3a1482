import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { hexToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { refreshDue } from '../../src/derived/offers/refresh.ts'
import { type Answer, must } from './caller.ts'
import { ATTESTATION_SEEDS, BASE_URL, generic, NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { publish, registered, sell } from './reviews.ts'

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
const ENDPOINT = `https://shop.test/it's?a=1&b=<2>`
const TEXT = `"Good" & it's 'quick' ${'long '.repeat(200)}שלום`
const NASTY = '</style><script>alert(1)</script><img src=x onerror=alert(2)>"\'&'

let m: TestMarket
let product: Product
let agentId: bigint
let link: string
let terms: AttributionToken.Terms

beforeAll(async () => {
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' }, overrides: NO_WORK })
  const { merchant, reviewer } = m.market.accounts
  const merchantId = await openMerchant(m.market, merchant)
  agentId = await registerIdentity(m.market, reviewer)
  const post = (path: string, body: object) => must(m.call('POST', path, { as: merchant, body }))
  await post('/v1/merchant/register', { merchant_id: 0 })
  await post('/v1/merchant/profile', {
    merchant_id: 0,
    description: NASTY,
    landing_page_url: 'https://shop.test/?a="><script>',
  })
  product = await sell(m, merchantId, 1, ENDPOINT)
  await post('/v1/merchant/product', {
    merchant_id: 0,
    product_id: product.productId,
    endpoint_url: ENDPOINT,
    name: `Weather ${NASTY}`,
    description: NASTY,
    category: 'a<b',
  })
  const reviewId = await publish(m.market, { owner: reviewer, agentId, product, content: generic(4, TEXT) })
  await m.indexed()
  await registered(m, reviewId, generic(4, TEXT))
  link = (await must(m.call('GET', `/v1/review/${reviewId}`))).ref_link
  const { v: _version, kid: _kid, ...rest } = AttributionToken.decodeUnverified(link.split('/').at(-1))
  terms = rest
})
afterAll(() => m.close())

const page = (url = link, method = 'GET'): Promise<Answer> =>
  m.call(method, new URL(url).pathname, { headers: { accept: BROWSER } })

const ESCAPED: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (character) => ESCAPED[character] ?? '')

async function linkOf(change: Partial<AttributionToken.Terms>): Promise<string> {
  const key = await AttestationKey.signingKey(hexToBytes(ATTESTATION_SEEDS[0] ?? '0x'))
  return `${BASE_URL}/r/${await AttributionToken.mint({ ...terms, ...change }, key)}`
}

/** Expects a page that runs no scripts and loads nothing. */
function expectPlain({ headers, text }: Answer): void {
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
  expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src 'sha256-/)
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(text).not.toMatch(/<script|<img|<link|<form|<iframe/i)
}
const titleOf = ({ text }: Answer) => /<title>(.*?)<\/title>/.exec(text)?.[1]

describe('a browser that follows a ref link', () => {
  it('gets a page with the product, its merchant and the review', async () => {
    const { status, headers, text } = await page()
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(headers.get('vary')).toBe('Accept')
    expect(headers.get('cache-control')).toBe('no-store')
    expect(text).toContain(`<title>${escaped(`Weather ${NASTY}`)}</title>`)
    expect(text).toContain(escaped(TEXT))
    expect(text).toContain('aria-label="4 of 5 stars"')
    expect(text).toContain(`Agent ${agentId}, not ranked yet`)
    expect(text).toContain('Sold by merchant 0')
    expect(text).toContain('told by the shop when asked')
    expect(text).toContain('<dd>none</dd>')
  })

  it('learns the rank of the reviewer for this type of product, and what comes back', async () => {
    await m.sql`
      INSERT INTO market.review_ranks (chain_id, agent_id, repeat, one_off) VALUES (${m.chainId}, ${agentId}, 0.624, 0.1)
      ON CONFLICT (chain_id, agent_id) DO UPDATE SET repeat = 0.624, one_off = 0.1`
    const { text } = await page(await linkOf({ cashbackOfCommissionBps: 1_250 }))
    expect(text).toContain('rank 0.62 of 1')
    expect(text).toContain('12.5 % of the commission')
    await m.sql`UPDATE market.agents SET flagged = true WHERE agent_id = ${agentId}`
    expect((await page()).text).toContain('rank 0.00 of 1')
    await m.sql`UPDATE market.agents SET flagged = false WHERE agent_id = ${agentId}`
  })

  it('learns how to buy: the endpoint and the token are there as a shell and a program take them', async () => {
    const { text } = await page()
    const token = link.split('/').at(-1)
    const href = new URL(ENDPOINT).href.replaceAll("'", `'\\''`)
    expect(text).toContain(escaped(`curl -i '${href}' \\\n  -H 'X-Referrer-Token: ${token}'`))
    expect(text).toContain(escaped(`curl '${link}'`))
    expect(text).toContain(escaped(`fetch(\n  "${link}",\n)`))
    expect(text).toContain(escaped(`asset: '${m.market.addresses.USDC}'`))
    expect(text).toContain(escaped(`'eip155:${m.chainId}'`))
  })

  it('runs nothing and loads nothing, whatever merchants and reviewers write', async () => {
    const { headers, text } = await page()
    expect(text).not.toMatch(/<script|<img|<iframe|<link|<form|<svg|onerror=alert\(2\)>"/i)
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(text) ?? []
    const hash = createHash('sha256').update(style).digest('base64')
    expect(headers.get('content-security-policy')).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    )
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
    const urls = [...text.matchAll(/(?:href|src)="([^"]*)"/g)].map(([, url]) => url)
    const foreign = urls.filter((url) => !url?.startsWith(`${BASE_URL}/`))
    expect(foreign).toHaveLength(1)
    expect(foreign[0]).toMatch(/^https:\/\/shop\.test\/\?a=/)
  })

  it('is led to the pages about what it sees, to the product with this review chosen, and has a picture', async () => {
    const { text } = await page()
    const paths = [
      ...['/', '/discover', '/reviewers', '/merchant/0', `/reviewer/${agentId}`],
      ...[`/product/0/${product.productId}`, `/product/0/${product.productId}?review=${terms.reviewId}#buy`],
    ]
    const links = [...text.matchAll(/href="([^"]*)"/g)].map(([, url]) => url)
    for (const path of paths) expect(links).toContain(BASE_URL + path)
    const image = `${BASE_URL}/preview/product/0/${product.productId}.png`
    expect(text).toContain(`<meta property="og:image" content="${image}">`)
  })

  it('gets a page of a review whose text is not known', async () => {
    const { reviewer } = m.market.accounts
    const untold = await publish(m.market, {
      owner: reviewer,
      agentId,
      product,
      content: generic(1, 'Later'),
    })
    await m.indexed()
    const { status, text } = await page(await linkOf({ reviewId: untold }))
    expect(status).toBe(200)
    expect(text).toContain('The text of this review is not known here yet.')
    expect(text).not.toContain('blockquote dir')
  })

  it('is led nowhere by a link of a product that nobody sells anywhere', async () => {
    const { reviewer } = m.market.accounts
    const bare = await sell(m, product.merchantId, 2)
    const content = generic(5, 'Plain')
    const reviewId = await publish(m.market, { owner: reviewer, agentId, product: bare, content })
    await m.indexed()
    const { status } = await page(await linkOf({ reviewId, productId: bare.productId }))
    expect(status).toBe(404)
  })

  it('asks for the head alone and gets that', async () => {
    const { status, headers, text } = await page(link, 'HEAD')
    expect({ status, text, type: headers.get('content-type') }).toEqual({
      status: 200,
      text: '',
      type: 'text/html; charset=utf-8',
    })
  })

  it('learns the price that the shop asked for, and what the reviewer measured', async () => {
    const { merchant, reviewer } = m.market.accounts
    const offer = { scheme: 'exact', network: `eip155:${m.chainId}`, asset: m.market.addresses.USDC }
    const shop = createServer((_request, response) =>
      response.writeHead(402).end(JSON.stringify({ accepts: [{ ...offer, amount: '1250000' }] })),
    ).listen(0, '127.0.0.1')
    await once(shop, 'listening')
    const endpoint = `http://127.0.0.1:${(shop.address() as AddressInfo).port}/buy`
    const measured = await sell(m, product.merchantId, 3, endpoint)
    const describeAt = (endpoint_url: string) => {
      const texts = { name: 'Answers', description: 'By the call', category: 'api', endpoint_url }
      const body = { merchant_id: 0, product_id: measured.productId, ...texts }
      return must(m.call('POST', '/v1/merchant/product', { as: merchant, body }))
    }
    await describeAt(endpoint)
    const content = JSON.stringify({
      ...{ rating: 4, description: 'Steady', calls: 12_000, successes: 11_988, failures: 12 },
      ...{ latency_ms: { p50: 41.5, p95: 120, p99: 1_800 }, cost_usdc: '1.20', cost_per_call_usdc: 0.0001 },
      ...{ secret_of_mine: '<script>' },
    })
    const reviewId = await publish(m.market, { owner: reviewer, agentId, product: measured, content })
    await m.indexed()
    await registered(m, reviewId, content)
    await m.sql`
      INSERT INTO market.offers (chain_id, merchant_id, product_id, endpoint_url)
      VALUES (${m.chainId}, 0, ${Buffer.from(measured.productId.slice(2), 'hex')}, ${endpoint})`
    await refreshDue(m.service.context, AbortSignal.timeout(50_000))
    shop.close()

    const { ref_link } = await must(m.call('GET', `/v1/review/${reviewId}`))
    const { text } = await page(ref_link)
    expect(text).toContain('1.25 USDC</span>')
    expect(text).toMatch(/seen <time datetime="[^"]+Z">\d{4}-\d\d-\d\d \d\d:\d\d UTC<\/time>/)
    expect(text).toContain('At most 1.25 USDC for one purchase')
    expect(text).toContain(escaped(`maxAmountPerPayment: '1250000'`))
    const figures = [...text.matchAll(/<dt dir="auto">(.*?)<\/dt><dd dir="auto">(.*?)<\/dd>/g)]
    expect(figures.map(([, name, value]) => [name, value])).toEqual([
      ['Calls', '12,000'],
      ['Successes', '11,988'],
      ['Failures', '12'],
      ['Latency p50', '41.5 ms'],
      ['Latency p95', '120 ms'],
      ['Latency p99', '1,800 ms'],
      ['Cost', '1.20 USDC'],
      ['Cost per call', '0.0001 USDC'],
    ])
    expect(text).not.toMatch(/secret_of_mine|<script/i)

    await describeAt(`${endpoint}/moved`)
    expect((await page(ref_link)).text, 'nobody has asked there').toContain('told by the shop when asked')
  })

  it.each([
    ['that is none', '/r/x', 400, 'This link does not work'],
    ['without its token', '/r/', 400, 'This link does not work'],
    ['in two parts', '/r/a/b', 404, 'There is nothing here'],
    ['cut in a character', '/r/%E0%A4', 400, 'There is nothing here'],
  ])('gets a page of a link %s, and a program its error', async (_what, path, status, title) => {
    const answer = await m.call('GET', path, { headers: { accept: BROWSER } })
    expect(answer.status).toBe(status)
    expectPlain(answer)
    expect(answer.text).toContain(`<h1>${title}</h1>`)
    expect(answer.text).toMatch(/[Cc]opy it again, whole/)
    const program = await m.call('GET', path)
    expect(program.status).toBe(status)
    expect(program.body.error).toMatch(/^(invalid token|not found|bad request)$/)
  })

  it('gets a page of a link that was changed, of one that is closed, and when the records cannot be read', async () => {
    const { pathname } = new URL(link)
    const changed = await page(`${link.slice(0, -9)}AAAAAAAAA`)
    expect([changed.status, titleOf(changed)]).toEqual([400, 'This link does not work'])
    const closed = await page(await linkOf({ productId: `0x${'ee'.repeat(32)}` }))
    expect([closed.status, titleOf(closed)]).toEqual([404, 'Nothing is sold through this link now'])
    const failed = await m.withoutTable('chain.products', () => page())
    expect([failed.status, titleOf(failed)]).toEqual([500, 'This page cannot be shown now'])
    for (const answer of [changed, closed, failed]) {
      expectPlain(answer)
      expect(answer.text).toContain('Nothing was bought or paid.')
      expect(answer.text).not.toContain(pathname.slice(3))
    }
    expect(await m.call('GET', `${pathname}A`)).toMatchObject({
      status: 400,
      body: { error: 'invalid token', detail: expect.stringContaining('copy the whole link again') },
    })
  })
})

it.each([undefined, '*/*', 'application/json', 'text/html;q=0.5, application/json'])(
  'a program that accepts %s gets JSON',
  async (accept) => {
    const headers: Record<string, string> = accept === undefined ? {} : { accept }
    const answer = await m.call('GET', new URL(link).pathname, { headers })
    expect(answer.body).toHaveProperty('merchant_endpoint', ENDPOINT)
  },
)
