import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openMerchant, type Product, registerIdentity } from '@referrer/contracts/local'
import { AttestationKey, AttributionToken } from '@referrer/protocol'
import { hexToBytes, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Service, startService } from '../../src/app/service.ts'
import { checkOut } from '../../src/views/checkout/operations.ts'
import { callerOf, cookieOf, must, sessionOf } from './caller.ts'
import { generic, NO_WORK, startTestMarket, type TestMarket } from './market.ts'
import { act } from './merchants.ts'
import { publish, registered, sell } from './reviews.ts'

const PATH = '/v1/checkout'
const LARGEST = 256 * 1024

let m: TestMarket
/** A replica that may not call hosts on this machine. */
let guarded: Service
let shop: Server
let answer: (response: ServerResponse) => void
let asked: { method: string; url: string; headers: IncomingHttpHeaders }[]
let merchantId: bigint
let product: Product
let token: string

beforeAll(async () => {
  m = await startTestMarket({ env: { ALLOW_PRIVATE_HOSTS: 'true' }, overrides: NO_WORK })
  guarded = await startService({ ...m.service.context.config, allowPrivateHosts: false }, NO_WORK)
  shop = createServer(({ method = '', url = '', headers }, response) => {
    asked.push({ method, url, headers })
    answer(response)
  }).listen(0, '127.0.0.1')
  await once(shop, 'listening')
  const { merchant, reviewer } = m.market.accounts
  merchantId = await openMerchant(m.market, merchant)
  const agentId = await registerIdentity(m.market, reviewer)
  await must(m.call('POST', '/v1/merchant/register', { as: merchant, body: { merchant_id: 0 } }))
  product = await sell(
    m,
    merchantId,
    1,
    `http://127.0.0.1:${(shop.address() as AddressInfo).port}/buy?item=1`,
  )
  const reviewId = await publish(m.market, {
    owner: reviewer,
    agentId,
    product,
    content: generic(4, 'Quick'),
  })
  await m.indexed()
  await registered(m, reviewId, generic(4, 'Quick'))
  const { ref_link: link } = await must(m.call('GET', `/v1/review/${reviewId}`))
  token = link.split('/').at(-1)
  reset()
})
afterAll(async () => {
  shop.closeAllConnections()
  shop.close()
  await guarded.stop()
  await m.close()
})
afterEach(reset)

function reset() {
  asked = []
  answer = (response) => response.writeHead(402, { 'payment-required': 'e30=' }).end('{}')
}

function buy(body: object, headers: Record<string, string> = {}, call = m.call) {
  // The route allows two requests a second.
  m.clock.aheadMs += 500
  return call('POST', PATH, { body, headers })
}

describe('a checkout', () => {
  it('asks the shop for its price, then pays, and hands on what the shop answers', async () => {
    const price = await buy({ token })
    expect(price).toMatchObject({
      status: 200,
      body: {
        status: 402,
        content_type: null,
        body: '{}',
        is_base64: false,
        payment_required: 'e30=',
        payment_response: null,
      },
    })
    answer = (response) =>
      response
        .writeHead(200, { 'payment-response': 'eyJ9', 'content-type': 'application/json; charset=utf-8' })
        .end('{"weather":"rain ☂"}')
    const paid = await buy({ token, payment: 'eyJ4NDAy+/_-=', query: { city: 'Gent & Brugge', lang: 'nl' } })
    expect(paid.body).toEqual({
      status: 200,
      content_type: 'application/json; charset=utf-8',
      body: '{"weather":"rain ☂"}',
      is_base64: false,
      payment_required: null,
      payment_response: 'eyJ9',
    })
    expect(asked.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /buy?item=1',
      'GET /buy?item=1&city=Gent+%26+Brugge&lang=nl',
    ])
    expect(asked[0]?.headers).toMatchObject({ 'x-referrer-token': token })
    expect(asked[0]?.headers).not.toHaveProperty('payment-signature')
    expect(asked[1]?.headers).toMatchObject({
      'x-referrer-token': token,
      'payment-signature': 'eyJ4NDAy+/_-=',
    })
  })

  it('reads the requirements of a shop that tells them in the body', async () => {
    const body = JSON.stringify({ x402Version: 1, accepts: [{ scheme: 'exact' }] })
    answer = (response) => response.writeHead(402, { 'content-type': 'application/json' }).end(body)
    expect((await buy({ token })).body).toMatchObject({ status: 402, payment_required: body })
    answer = (response) => response.writeHead(200).end(body)
    expect((await buy({ token })).body.payment_required).toBeNull()
  })

  it('sends nothing of the caller but the payment', async () => {
    const session = await sessionOf(m.call, m.market.accounts.reviewer)
    await buy(
      { token },
      {
        ...cookieOf(session),
        authorization: `Bearer ${session}`,
        'x-agent-signature': '0x00',
        'x-forwarded-for': '10.0.0.1',
        'user-agent': 'Firefox',
        referer: 'https://market.test/me',
        origin: 'https://market.test',
        'x-payment': 'e30=',
      },
    )
    expect(Object.keys(asked[0]?.headers ?? {}).sort()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
      'x-referrer-token',
    ])
    expect(asked[0]?.headers['user-agent']).toBe('referrer')
  })

  it('is JSON whatever the shop sends, and takes none of its headers', async () => {
    const page = '<script>alert(document.domain)</script>'
    answer = (response) =>
      response
        .writeHead(200, {
          'content-type': 'text/html',
          'set-cookie': '__Host-referrer=planted; Path=/; Secure',
          'content-security-policy': "default-src 'unsafe-inline'",
          'access-control-allow-origin': '*',
          location: 'https://evil.test',
        })
        .end(page)
    const { status, headers, body } = await buy({ token })
    expect([status, body.content_type, body.body]).toEqual([200, 'text/html', page])
    expect(headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('cache-control')).toBe('no-store')
    for (const name of ['set-cookie', 'content-security-policy', 'access-control-allow-origin', 'location']) {
      expect(headers.get(name), name).toBeNull()
    }
  })

  it('gives bytes that are not text as base64', async () => {
    const bytes = Buffer.from([0x89, 0x50, 0x00, 0xff])
    for (const type of ['image/png', 'application/octet-stream', 'application/zip']) {
      answer = (response) => response.writeHead(200, { 'content-type': type }).end(bytes)
      expect((await buy({ token })).body).toMatchObject({ body: bytes.toString('base64'), is_base64: true })
    }
    answer = (response) => response.writeHead(200, { 'content-type': 'text/plain' }).end(bytes)
    expect((await buy({ token })).body.is_base64).toBe(true)
  })

  it('follows no redirect', async () => {
    for (const status of [301, 302, 303, 307, 308]) {
      answer = (response) => response.writeHead(status, { location: '/elsewhere' }).end()
      expect((await buy({ token })).body).toMatchObject({ status, body: '' })
    }
    expect(asked.filter(({ url }) => url.includes('elsewhere'))).toEqual([])
    expect(asked).toHaveLength(5)
  })

  it('answers 503 for a shop that gives no usable answer', async () => {
    const silent = { status: 503, body: { error: 'the shop does not answer' } }
    answer = (response) => response.destroy()
    expect(await buy({ token })).toMatchObject({ ...silent, body: { detail: 'connection failed' } })
    answer = (response) => response.writeHead(200).end(Buffer.alloc(LARGEST + 1, 'a'))
    expect(await buy({ token })).toMatchObject({ ...silent, body: { detail: `more than ${LARGEST} bytes` } })
    answer = (response) =>
      response.writeHead(200, { 'content-type': 'text/plain' }).end(Buffer.alloc(LARGEST, 'a'))
    expect((await buy({ token })).body.body).toHaveLength(LARGEST)
  })

  it('never calls a host inside', async () => {
    const inside = await buy({ token }, {}, callerOf(guarded.url))
    expect(inside).toMatchObject({ status: 503, body: { detail: 'its host is not on the public internet' } })
    expect(asked).toEqual([])
  })
})

describe('a checkout is refused', () => {
  const invalid = { status: 400, body: { error: 'invalid token' } }

  it('without a link that we signed', async () => {
    const { v: _version, kid: _kid, ...terms } = AttributionToken.decodeUnverified(token)
    const stranger = await AttestationKey.signingKey(hexToBytes(numberToHex(0xee, { size: 32 })))
    const forged = await AttributionToken.mint(
      { ...terms, merchantEndpoint: 'http://127.0.0.1:1/' },
      stranger,
    )
    const bent = `${token.startsWith('e') ? 'f' : 'e'}${token.slice(1)}`
    for (const wrong of [
      '',
      'x',
      forged,
      bent,
      `${token}x`,
      'http://127.0.0.1:1/',
      '../admin',
      'x'.repeat(60_000),
    ]) {
      expect(await buy({ token: wrong })).toMatchObject(invalid)
    }
    expect(asked).toEqual([])
  })

  it.each<[string, object]>([
    ['a payment that breaks the header', { payment: 'e30=\r\nx-evil: 1' }],
    ['a payment with a space', { payment: 'e30= x' }],
    ['an empty payment', { payment: '' }],
    ['a payment that is too long', { payment: 'a'.repeat(12_289) }],
    ['a payment that is no text', { payment: { a: 1 } }],
    ['a query with a list', { query: { a: ['b'] } }],
    ['a query with a number', { query: { a: 1 } }],
    ['a query that is text', { query: 'a=b' }],
    [
      'a query with too many names',
      { query: Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`n${at}`, ''])) },
    ],
    ['a query with a long value', { query: { a: 'x'.repeat(1_001) } }],
    ["a query that replaces the endpoint's own", { query: { item: '2' } }],
    ['another URL', { url: 'http://127.0.0.1:1/' }],
    ['headers', { headers: { authorization: 'Bearer x' } }],
    ['a method', { method: 'POST' }],
  ])('with %s', async (_, wrong) => {
    expect(await buy({ token, ...wrong })).toMatchObject({ status: 400, body: { error: 'invalid request' } })
    expect(asked).toEqual([])
  })

  it('beyond two a second, and while four calls of a client wait for shops', async () => {
    const rushed = await m.atOnce(() =>
      Promise.all(Array.from({ length: 5 }, () => m.call('POST', PATH, { body: { token } }))),
    )
    expect(rushed.filter(({ status }) => status === 429)).not.toHaveLength(0)
    const held: ServerResponse[] = []
    answer = (response) => held.push(response)
    const waiting: ReturnType<typeof buy>[] = []
    for (let count = 1; count <= 4; count += 1) {
      waiting.push(buy({ token }))
      await expect.poll(() => held.length).toBe(count)
    }
    expect(await buy({ token })).toMatchObject({
      status: 429,
      body: { error: 'rate limited', detail: 'too many calls wait for the answers of shops' },
    })
    for (const response of held) response.end('done')
    for (const { status } of await Promise.all(waiting)) expect(status).toBe(200)
    reset()
    expect((await buy({ token })).status).toBe(200)
  })

  it('while twenty calls wait for the same shop, whoever made them: a slow shop takes its own share', async () => {
    const held: ServerResponse[] = []
    answer = (response) => held.push(response)
    const from = (client: number) => checkOut(m.service.context, `client ${client}`, { token })
    const waiting = Array.from({ length: 20 }, (_, at) => from(at))
    await expect.poll(() => held.length).toBe(20)
    await expect(from(20)).rejects.toThrow('too many calls wait for the answers of shops')
    for (const response of held) response.end('done')
    expect(await Promise.all(waiting)).toHaveLength(20)
    answer = (response) => response.end('done')
    expect(await from(20)).toMatchObject({ status: 200 })
  })

  it('for a product that is closed', async () => {
    const { merchant } = m.market.accounts
    await act(m, merchant, 'setProductActive', merchantId, product.productId, false)
    await m.indexed()
    expect(await buy({ token })).toMatchObject({ status: 404, body: { error: 'not found' } })
    expect(asked).toEqual([])
  })
})
