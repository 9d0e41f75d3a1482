import { createHash } from 'node:crypto'
import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { hexToBytes } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
  m = await startTestMarket({ overrides: NO_WORK })
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
    expect(urls).toHaveLength(1)
    expect(urls[0]).toMatch(/^https:\/\/shop\.test\/\?a=/)
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

  it('is refused in JSON like everybody else', async () => {
    const { status, body } = await page(`${BASE_URL}/r/x`)
    expect({ status, body }).toEqual({ status: 400, body: { error: 'invalid token' } })
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
