import { RequestSignature, X402 } from '@referrer/protocol'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Asked,
  bodyOf,
  ENDPOINT,
  headerOf,
  PRICE,
  pay,
  retry,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  tokenFor,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())
beforeEach(() => world.facilitator.says(settledBy()))

const envelopeOf = (asked: Asked | undefined) => JSON.parse(asked?.text ?? 'null')
const network = () => `eip155:${world.local.chain.id}`

describe('a request with a payment', () => {
  it('goes to settlement and is served with its transaction [REF-25, REF-30]', async () => {
    const shop = shopOf(world)
    const payment = await pay(world)
    const response = await shop.fetch(retry(payment))
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual({ joke: 'a good one', transaction: TRANSACTION })
    expect(headerOf(response, 'PAYMENT-RESPONSE')).toEqual({
      success: true,
      transaction: TRANSACTION,
      network: network(),
      payer: world.market.accounts.buyer.address,
    })
    expect(response.headers.get('PAYMENT-RESPONSE')).toMatch(/^[A-Za-z0-9+/]+={0,2}$/)
    expect(response.headers.has('PAYMENT-REQUIRED')).toBe(false)
    expect(world.facilitator.asked).toHaveLength(1)
  })

  describe.each([0, 1, 2])('of 3n + %i bytes', (rest) => {
    const padding = '='.repeat((3 - rest) % 3)
    const unpadded = (text: string) => text.replaceAll('=', '')
    const urlSafe = (text: string) => text.replaceAll('+', '-').replaceAll('/', '_')

    it.each<[string, (standard: string) => string, RegExp]>([
      ['standard base64, as official clients send it', (text) => text, /[+/]/],
      ['standard base64 without padding', unpadded, /[+/]/],
      ['base64url, as our signer sends it', (text) => unpadded(urlSafe(text)), /[_-]/],
      ['base64url with padding', urlSafe, /[_-]/],
    ])('is read in %s [REF-26]', async (_, spell, alphabet) => {
      const { payload } = await pay(world)
      // Bytes that the two alphabets spell differently.
      const noted = { ...payload, note: '???>>>~~~ü' }
      while (Buffer.byteLength(JSON.stringify(noted)) % 3 !== rest) noted.note += '.'
      const standard = Buffer.from(JSON.stringify(noted)).toString('base64')
      expect(/=*$/.exec(standard)?.[0]).toBe(padding)
      const header = spell(standard)
      expect(header).toMatch(alphabet)
      expect((await shopOf(world).fetch(retry({ header }))).status).toBe(200)
      expect(envelopeOf(world.facilitator.settlements().at(-1)).paymentPayload).toEqual(noted)
    })
  })

  it('is sent on as it came, in an envelope of version 2 [REF-27, VER-02]', async () => {
    const { header, payload } = await pay(world)
    await shopOf(world).fetch(retry({ header }))
    const [asked] = world.facilitator.asked
    expect(asked).toMatchObject({ method: 'POST', path: '/settle' })
    expect(asked?.headers['content-type']).toBe('application/json')
    expect(Object.keys(envelopeOf(asked))).toEqual(['x402Version', 'paymentPayload', 'paymentRequirements'])
    expect(envelopeOf(asked)).toMatchObject({ x402Version: 2, paymentPayload: payload })
  })

  it('is held to our own offer, whatever it says it accepted [REF-28]', async () => {
    const token = await tokenFor(world)
    const { payload } = await pay(world, { value: 1n, token })
    const cheap = {
      ...payload,
      accepted: { ...payload.accepted, amount: '1', payTo: world.market.accounts.buyer.address },
    }
    await shopOf(world).fetch(retry({ header: X402.PaymentPayload.serialize(cheap) }))
    const offer = await shopOf(world).fetch(new Request(ENDPOINT, { headers: { 'X-Referrer-Token': token } }))
    const { accepts } = (await bodyOf(offer)) as { accepts: unknown[] }
    expect(envelopeOf(world.facilitator.asked[0]).paymentRequirements).toEqual(accepts[0])
    expect(accepts[0]).toMatchObject({ amount: String(PRICE), payTo: world.market.addresses.SplitRouter })
  })

  it('may bring other headers, which do not count', async () => {
    const { header } = await pay(world)
    const headers = { 'PAYMENT-SIGNATURE': header, 'X-Referrer-Token': 'é'.repeat(5_000), 'X-PAYMENT': 'old' }
    expect((await shopOf(world).fetch(new Request(ENDPOINT, { headers }))).status).toBe(200)
  })

  it('through a link to another product of the merchant is settled as the product sold here', async () => {
    const token = await tokenFor(world, { productId: `0x${'b2'.repeat(32)}` })
    const { payload } = await pay(world, { token })
    // As stock clients pay: their nonce commits to nothing.
    const { attributionSalt: _, ...extensions } = payload.extensions
    await shopOf(world).fetch(retry({ header: X402.PaymentPayload.serialize({ ...payload, extensions }) }))
    expect(envelopeOf(world.facilitator.asked[0]).paymentRequirements.extra.productId).toBe(
      world.product.productId,
    )
  })

  it('that commits to a link to another product is refused: anybody could have it settled for that one', async () => {
    const token = await tokenFor(world, { productId: `0x${'b2'.repeat(32)}` })
    const response = await shopOf(world).fetch(retry(await pay(world, { token })))
    expect(response.status).toBe(402)
    expect(await bodyOf(response)).toMatchObject({
      error:
        'the ref link leads to another product, and the payment commits to that one: buy through a link to the product that is sold here',
      errorReason: 'invalid_payment',
    })
    expect(world.facilitator.asked).toHaveLength(0)
  })

  it('through a link to another merchant is refused, because it would pay that one', async () => {
    const shop = shopOf(world)
    const token = await tokenFor(world, { merchantId: 999 })
    const response = await shop.fetch(retry(await pay(world, { token })))
    expect(response.status).toBe(402)
    expect(await bodyOf(response)).toMatchObject({
      error: "the ref link leads to another merchant's product, which is not sold here",
      errorReason: 'invalid_payment',
      extensions: { attributionToken: token },
    })
    expect(world.facilitator.asked).toHaveLength(0)
  })

  it('is signed with the hot key, over the very bytes that are sent', async () => {
    const signingKey = generatePrivateKey()
    const now = Date.now()
    await shopOf(world, { signingKey, now: () => now }).fetch(retry(await pay(world)))
    const [asked] = world.facilitator.asked
    const signature = RequestSignature.parse(new Headers(asked?.headers as Record<string, string>))
    expect(signature.timestamp).toBe(Math.floor(now / 1_000))
    expect(await RequestSignature.recover({ body: asked?.text ?? '', ...signature })).toBe(
      privateKeyToAccount(signingKey).address,
    )
  })

  it('is not signed without one', async () => {
    await shopOf(world).fetch(retry(await pay(world)))
    expect(world.facilitator.asked[0]?.headers).not.toHaveProperty('x-agent-signature')
  })

  it('tells serve what was bought, by whom, and for how much', async () => {
    const sales: unknown[] = []
    const shop = shopOf(world, { serve: (request, sale) => void sales.push([request.method, sale]) })
    const { payload } = await pay(world)
    const { from, nonce } = payload.payload.authorization
    const extensions = { ...payload.extensions, buyerAgentId: '12' }
    await shop.fetch(
      retry({ header: X402.PaymentPayload.serialize({ ...payload, extensions }) }, { method: 'POST' }),
    )
    const sale = {
      id: `${network()}:${from}:${nonce}`.toLowerCase(),
      transaction: TRANSACTION,
      payer: from,
      amount: PRICE,
      attributionToken: payload.extensions.attributionToken,
      buyerAgentId: '12',
    }
    expect(sales).toEqual([['POST', sale]])
    expect(shop.events).toEqual([{ type: 'sold', sale }])
  })

  it('reaches serve with its body', async () => {
    const shop = shopOf(world, {
      serve: (request) => request.json(),
      price: async (request) => ((await request.text()) ? PRICE : 1n),
    })
    const response = await shop.fetch(retry(await pay(world), { method: 'POST', body: '{"topic":"cats"}' }))
    expect(await bodyOf(response)).toEqual({ topic: 'cats', transaction: TRANSACTION })
  })
})

describe('what serve returns', () => {
  const served = async (serve: () => unknown) => shopOf(world, { serve }).fetch(retry(await pay(world)))

  it('becomes JSON with the transaction', async () => {
    for (const [result, body] of [
      [{ a: 1, transaction: 'mine' }, { a: 1 }],
      [[1, 2], { result: [1, 2] }],
      ['text', { result: 'text' }],
      [null, { result: null }],
      [undefined, {}],
      [new Date(0), { result: '1970-01-01T00:00:00.000Z' }],
    ]) {
      const response = await served(() => result)
      expect(await bodyOf(response)).toEqual({ ...(body as object), transaction: TRANSACTION })
      expect(response.headers.get('cache-control')).toBe('private, no-store')
    }
  })

  it('may be a JSON response, which is joined by the transaction', async () => {
    const headers = {
      'content-type': 'application/ld+json; charset=utf-8',
      'content-length': '7',
      etag: '"1"',
      'x-mine': 'kept',
    }
    const response = await served(() => new Response('{"a":1}', { status: 201, headers }))
    expect(response.status).toBe(201)
    expect(await bodyOf(response)).toEqual({ a: 1, transaction: TRANSACTION })
    expect(response.headers.get('x-mine')).toBe('kept')
    expect(response.headers.has('etag')).toBe(false)
    expect(response.headers.has('content-length')).toBe(false)
    expect(response.headers.get('content-type')).toBe(headers['content-type'])
    expect(await bodyOf(await served(() => Response.json([1])))).toEqual({
      result: [1],
      transaction: TRANSACTION,
    })
  })

  it('may be any other response, which carries the transaction in its header', async () => {
    for (const [type, text] of [
      ['text/csv', 'a,b'],
      ['application/json', 'not json'],
    ] as const) {
      const response = await served(
        () => new Response(text, { headers: { 'content-type': type, 'cache-control': 'max-age=60' } }),
      )
      expect(await response.text()).toBe(text)
      expect(headerOf(response, 'PAYMENT-RESPONSE')).toMatchObject({
        success: true,
        transaction: TRANSACTION,
      })
      expect(response.headers.get('cache-control')).toBe('max-age=60, private')
    }
    expect((await served(() => new Response(null, { status: 204 }))).status).toBe(204)
  })

  it('may turn the buyer down without giving the payment back', async () => {
    const response = await served(() => Response.json({ error: 'sold out' }, { status: 410 }))
    expect(response.status).toBe(410)
    expect(await bodyOf(response)).toEqual({ error: 'sold out', transaction: TRANSACTION })
  })
})
