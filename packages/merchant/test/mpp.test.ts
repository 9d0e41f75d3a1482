// A stock mppx client pays by the Payment scheme, at a real facilitator; stock x402 clients buy at the same endpoint.
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mintUsdc, SANDBOX_TOKEN } from '@referrer/contracts/local'
import { X402 } from '@referrer/protocol'
import { ExactEvmScheme } from '@x402/evm'
import { wrapFetchWithPaymentFromConfig } from '@x402/fetch'
import { Challenge, Credential, Receipt } from 'mppx'
import { evm, Mppx } from 'mppx/client'
import type { Hash } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from '../../facilitator/test/abuse/books.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../../facilitator/test/harness.ts'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type MerchantEvent,
  type ReferralConfig,
} from '../src/index.ts'
import { nodeHandler } from '../src/node.ts'
import { bodyOf, headerOf } from './world.ts'

const SECRET = 'a secret of thirty-two characters'
const OTHER_SECRET = 'another one of thirty-two characters'
const URL_OF_SHOP = 'https://shop.test/buy'

let m: TestFacilitator
let agentId: bigint
let server: Server
let url: string
let books: Books
const events: MerchantEvent[] = []
/** The routes of the facilitator that the shops asked. */
const asked: string[] = []
/** What becomes of a call to the facilitator: `lose` lets it happen and loses the answer. */
let trouble: 'none' | 'cut' | 'lose' = 'none'

beforeAll(async () => {
  m = await startTestFacilitator({ keepsTime: true })
  const { buyer } = m.market.accounts
  await mintUsdc(m.market, buyer.address, 100n * PRICE)
  agentId = await m.newAgent(buyer)
  server = createServer(nodeHandler(shopOf())).listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/buy`
  books = await openBooks(m)
})
afterAll(async () => {
  server.close()
  server.closeAllConnections()
  await m?.close()
})

function shopOf(changes: Partial<ReferralConfig> = {}) {
  return createReferralEndpoint({
    chainId: m.chainId,
    rpcUrl: m.node.url,
    addressRegistry: m.market.addresses.AddressRegistry,
    facilitatorUrl: m.facilitator.url,
    setupUrl: 'https://market.test/.well-known/referrer-agent',
    merchantId: m.merchant.merchantId,
    product: { id: m.merchant.productId },
    payments: createPaymentMemory(),
    price: PRICE,
    serve: () => ({ joke: 'a good one' }),
    onEvent: (event) => events.push(event),
    mpp: { secretKey: SECRET },
    async fetch(input, init) {
      const target = String(input instanceof Request ? input.url : input)
      if (!target.startsWith(m.facilitator.url)) return fetch(input, init)
      asked.push(new URL(target).pathname)
      if (trouble === 'cut') throw new Error('cut')
      const response = await fetch(input, init)
      if (trouble === 'lose') throw new Error('lost')
      return response
    },
    ...changes,
  })
}

const linked = (token = m.till.attributionToken) => ({
  'X-Referrer-Token': token,
  'X-Referrer-Buyer-Agent-Id': String(agentId),
})

const methods = () =>
  evm({
    account: m.market.accounts.buyer,
    networks: [m.chainId],
    currencies: [m.till.usdc],
    authorization: SANDBOX_TOKEN,
  })

/** A stock client that notes the headers by which it pays. */
function client(shop?: { fetch(request: Request): Promise<Response> }) {
  const paid: Headers[] = []
  const mppx = Mppx.create({
    methods: [methods()],
    polyfill: false,
    fetch: async (input, init) => {
      const request = new Request(input, init)
      if (request.headers.has('Authorization') || request.headers.has('PAYMENT-SIGNATURE')) {
        paid.push(request.headers)
      }
      return shop ? shop.fetch(request) : fetch(request)
    },
  })
  return { mppx, paid }
}

type Shop = ReturnType<typeof shopOf>

/** A credential that the stock client makes for an offer of a shop. */
async function credentialFor(shop: Shop, address = URL_OF_SHOP, headers = linked()): Promise<string> {
  const offer = await shop.fetch(new Request(address, { headers }))
  expect(offer.status).toBe(402)
  const challenge = Challenge.fromResponse(offer)
  const [method] = methods()
  if (!method) throw new Error('no method')
  return method.createCredential({ challenge: challenge as never, context: {} })
}

const paying = (
  shop: Shop,
  credential: string,
  { address = URL_OF_SHOP, headers = linked() }: { address?: string; headers?: Record<string, string> } = {},
) => shop.fetch(new Request(address, { headers: { ...headers, Authorization: credential } }))

/** The same authorisation as an x402 client would send it. */
function asX402(credential: string): Record<string, string> {
  const {
    signature,
    type: _,
    ...authorization
  } = Credential.deserialize(credential).payload as Record<string, string>
  const payload = {
    x402Version: 2,
    payload: { signature, authorization },
    extensions: { attributionToken: m.till.attributionToken, buyerAgentId: String(agentId) },
  }
  return { 'PAYMENT-SIGNATURE': X402.encodeHeader(payload, 'standard') }
}

const problem = (type: string) => `https://paymentauth.org/problems/${type}`
const balance = () => m.balanceOf(m.market.accounts.buyer.address)

/** Refused with a 402 and a new challenge, and nobody paid anything. */
async function expectRefused(asking: () => Promise<Response>, type: string): Promise<string> {
  const before = await balance()
  const response = await asking()
  expect(response.status).toBe(402)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('Payment-Receipt')).toBeNull()
  expect(Challenge.fromResponse(response).intent).toBe('charge')
  const body = await bodyOf(response)
  expect(body).toMatchObject({ type: problem(type), status: 402, errorReason: 'invalid_payment' })
  expect(body.detail).toBe(body.errorMessage)
  expect(await balance()).toBe(before)
  return String(body.detail)
}

/** Not a 402, so that the client does not pay again. */
async function expectKept(response: Response, status: number): Promise<Record<string, unknown>> {
  expect(response.status).toBe(status)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(response.headers.get('WWW-Authenticate')).toBeNull()
  expect(response.headers.get('Payment-Receipt')).toBeNull()
  const body = await bodyOf(response)
  expect(body).toMatchObject({ type: 'about:blank', status, detail: body.error })
  expect(JSON.stringify(body)).not.toContain('PAYMENT-SIGNATURE')
  return body
}

async function expectEscrow(transaction: unknown) {
  const [escrow] = await m.escrowsIn(transaction as Hash)
  expect(escrow).toMatchObject({
    payer: m.market.accounts.buyer.address,
    price: PRICE,
    reviewId: m.reviewer.reviewId,
    reviewerAgentId: m.reviewer.agentId,
    buyerAgentId: agentId,
  })
}

describe('a stock mppx client', () => {
  it('buys through a ref link by the Payment scheme', async () => {
    asked.length = 0
    const { mppx, paid } = client()
    const response = await mppx.fetch(url, { headers: linked() })
    expect(response.status).toBe(200)
    expect(paid).toHaveLength(1)
    expect(paid[0]?.get('Authorization')).toMatch(/^Payment /)
    expect(paid[0]?.has('PAYMENT-SIGNATURE')).toBe(false)
    expect(asked).toEqual(['/mpp/charge'])

    const receipt = Receipt.fromResponse(response)
    const { challenge } = Credential.deserialize(paid[0]?.get('Authorization') ?? '')
    const { joke, transaction } = await bodyOf(response)
    expect(joke).toBe('a good one')
    expect(receipt).toEqual({
      method: 'evm',
      status: 'success',
      reference: transaction,
      timestamp: expect.any(String),
      challengeId: challenge.id,
      chainId: m.chainId,
    })
    expect(headerOf(response, 'PAYMENT-RESPONSE')).toMatchObject({ success: true, transaction })
    await expectEscrow(transaction)
    expect(events.at(-1)).toMatchObject({
      type: 'sold',
      sale: { attributionToken: m.till.attributionToken, buyerAgentId: String(agentId), amount: PRICE },
    })
  })

  it('buys the same thing twice at once, and pays for both', async () => {
    const { mppx } = client()
    const before = await balance()
    const responses = await Promise.all([0, 1].map(() => mppx.fetch(url, { headers: linked() })))
    expect(responses.map(({ status }) => status)).toEqual([200, 200])
    expect(before - (await balance())).toBe(2n * PRICE)
  })

  it('knows the challenge for one that its own server could have issued', async () => {
    const offer = await fetch(url, { headers: linked() })
    const challenge = Challenge.fromResponse(offer)
    expect(Challenge.verify(challenge, { secretKey: SECRET })).toBe(true)
    expect(challenge).toMatchObject({
      realm: new URL(url).host,
      method: 'evm',
      intent: 'charge',
      request: {
        amount: String(PRICE),
        currency: m.till.usdc,
        recipient: m.till.router,
        methodDetails: { chainId: m.chainId, credentialTypes: ['authorization'], decimals: 6 },
      },
    })
  })

  it('that would rather pay by x402 does so, once', async () => {
    const { mppx, paid } = client()
    const response = await mppx.fetch(url, {
      headers: linked(),
      orderChallenges: (candidates: readonly { challenge: { id: string } }[]) =>
        candidates.filter(({ challenge }) => challenge.id.startsWith('x402:')),
    } as never)
    expect(response.status).toBe(200)
    expect(paid.map((headers) => headers.has('PAYMENT-SIGNATURE'))).toEqual([true])
    expect(response.headers.get('Payment-Receipt')).toBeNull()
  })

  it('that does not know the domain of the token says so, and pays nothing', async () => {
    const account = m.market.accounts.buyer
    const { fetch: pay } = Mppx.create({
      methods: [evm({ account, networks: [m.chainId], currencies: [m.till.usdc] })],
      polyfill: false,
    })
    const before = await balance()
    await expect(pay(url, { headers: linked() })).rejects.toThrow('token name and version')
    expect(await balance()).toBe(before)
  })

  it('signs once where nobody knows whether it has paid', async () => {
    const { mppx, paid } = client(shopOf())
    trouble = 'cut'
    const response = await mppx.fetch(URL_OF_SHOP, { headers: linked() })
    trouble = 'none'
    expect(paid).toHaveLength(1)
    expect((await expectKept(response, 504)).detail).toContain('send the same Authorization again')
  })

  it('signs once where its credential reaches a process with another secret: the first may be settling it', async () => {
    const [one, other] = [shopOf(), shopOf({ mpp: { secretKey: OTHER_SECRET } })]
    const { mppx, paid } = client({
      fetch: (request) => (request.headers.has('Authorization') ? other : one).fetch(request),
    })
    const response = await mppx.fetch(URL_OF_SHOP, { headers: linked() })
    expect(response.headers.get('retry-after')).toMatch(/^[0-9]+$/)
    expect((await expectKept(response, 503)).detail).toContain('do not sign another before')
    expect(events.at(-1)).toMatchObject({ type: 'unsure' })
    expect(paid).toHaveLength(1)
    const served = await paying(one, paid[0]?.get('Authorization') ?? '')
    expect(served.status).toBe(200)
  })
})

it('a stock x402 client buys at the same endpoint', async () => {
  const network = X402.Network.from(m.chainId)
  const pay = wrapFetchWithPaymentFromConfig(fetch, {
    schemes: [{ network, client: new ExactEvmScheme(m.market.accounts.buyer) }],
    spendControls: { allowedAssets: [{ network, asset: m.till.usdc }] },
  })
  const response = await pay(url, { headers: linked() })
  expect(response.status).toBe(200)
  expect(response.headers.get('Payment-Receipt')).toBeNull()
  await expectEscrow((await bodyOf(response)).transaction)
})

describe('an endpoint without `mpp`', () => {
  it('sends no challenge and takes no credential', async () => {
    const credential = await credentialFor(shopOf())
    for (const mpp of [undefined, false]) {
      const shop = shopOf(mpp === undefined ? { mpp: undefined as never } : { mpp })
      const response = await paying(shop, credential)
      expect(response.status).toBe(402)
      expect(response.headers.get('WWW-Authenticate')).toBeNull()
      expect(response.headers.get('content-type')).toBe('application/json')
    }
  })
})

describe('a credential that was used', () => {
  it('buys nothing more: not by MPP, not by x402, not elsewhere', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop)
    expect((await paying(shop, credential)).status).toBe(200)
    const before = await balance()
    const again = await expectKept(await paying(shop, credential), 409)
    expect(again.detail).toContain('already used')
    const byX402 = await shop.fetch(new Request(URL_OF_SHOP, { headers: asX402(credential) }))
    expect(byX402.status).toBe(409)
    const elsewhere = shopOf()
    expect((await expectKept(await paying(elsewhere, credential), 409)).transaction).toMatch(/^0x/)
    for (const other of [{ address: `${URL_OF_SHOP}?other` }, { headers: {} }]) {
      expect((await expectKept(await paying(shopOf(), credential, other), 409)).transaction).toMatch(/^0x/)
    }
    expect(await balance()).toBe(before)
  })

  it('by x402 buys nothing by MPP', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop)
    const first = await shop.fetch(new Request(URL_OF_SHOP, { headers: asX402(credential) }))
    expect(first.status).toBe(200)
    await expectKept(await paying(shop, credential), 409)
  })

  it('twice at once is served once', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop)
    const responses = await Promise.all([paying(shop, credential), paying(shop, credential)])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('before the shop changed its secret is not asked to pay again', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop)
    expect((await paying(shop, credential)).status).toBe(200)
    const restarted = shopOf({ mpp: { secretKey: OTHER_SECRET } })
    expect((await expectKept(await paying(restarted, credential), 409)).detail).toContain('already used')
    trouble = 'cut'
    await expectKept(await paying(restarted, credential), 503)
    trouble = 'none'
  })

  it('with an answer that got lost is served when it comes again, long after the challenge', async () => {
    let now = Date.now()
    const shop = shopOf({ now: () => now })
    const credential = await credentialFor(shop)
    trouble = 'lose'
    await expectKept(await paying(shop, credential), 504)
    trouble = 'none'
    now += 1_800_000
    const response = await paying(shop, credential)
    expect(response.status).toBe(200)
    const { reference } = Receipt.fromResponse(response)
    await expectEscrow(reference)
  })

  it('and was not served is served when it comes again', async () => {
    let isBroken = true
    const shop = shopOf({
      serve: () => {
        if (isBroken) throw new Error('out of jokes')
        return {}
      },
    })
    const credential = await credentialFor(shop)
    const failed = await expectKept(await paying(shop, credential), 500)
    expect(failed.detail).toContain('send the same Authorization again')
    isBroken = false
    const response = await paying(shop, credential)
    expect(response.status).toBe(200)
    expect(Receipt.fromResponse(response).reference).toBe(failed.transaction)
  })
})

describe('a credential is refused', () => {
  type Wire = { challenge: Record<string, string>; payload: Record<string, string>; source?: string }
  const altered = (credential: string, change: (wire: Wire) => void): string => {
    const wire = X402.decodeHeader(credential.slice('Payment '.length)) as Wire
    change(wire)
    return `Payment ${X402.encodeHeader(wire, 'url')}`
  }
  /** By which the shops of these tests go. */
  const clock = { ahead: 0 }
  const clocked = (changes: Partial<ReferralConfig> = {}) =>
    shopOf({ now: () => Date.now() + clock.ahead, ...changes })

  /** It answers no challenge of this shop: until it ends it may be paid elsewhere, and is not asked to pay again. */
  async function expectInvalid(asking: () => Promise<Response>): Promise<string> {
    const kept = await expectKept(await asking(), 503)
    expect(kept.detail).toContain('do not sign another before')
    clock.ahead = 362_000
    try {
      const why = await expectRefused(asking, 'invalid-challenge')
      expect(String(kept.detail).startsWith(why)).toBe(true)
      return why
    } finally {
      clock.ahead = 0
    }
  }

  it.each([
    ['expires', '2099-01-01T00:00:00.000Z'],
    ['opaque', X402.encodeHeader({ nonce: '0x00', order: '0x00' }, 'url')],
    ['digest', 'sha-256=abc'],
  ])('whose challenge has another %s', async (name, value) => {
    const shop = clocked()
    const credential = altered(await credentialFor(shop), ({ challenge }) => {
      challenge[name] = value
    })
    const why = await expectInvalid(() => paying(shop, credential))
    expect(why).toBe('the challenge was not issued here, or not with these contents')
  })

  it.each([
    ['id', 'AAAA', 'payload.nonce must be'],
    ['realm', 'other.test', 'payload.nonce must be'],
    ['method', 'tempo', 'challenge.method must be'],
    ['intent', 'session', 'challenge.intent must be'],
    ['request', X402.encodeHeader({ amount: '1' }, 'url'), 'request.methodDetails must be'],
  ])('whose challenge has another %s than was signed', async (name, value, expected) => {
    const shop = shopOf()
    const credential = altered(await credentialFor(shop), ({ challenge }) => {
      challenge[name] = value
    })
    expect(await expectRefused(() => paying(shop, credential), 'malformed-credential')).toContain(expected)
  })

  it.each([
    ['value', '1'],
    ['to', '0x000000000000000000000000000000000000dEaD'],
    ['nonce', `0x${'11'.repeat(32)}`],
    ['type', 'hash'],
    ['type', 'transaction'],
  ])('whose payload has another %s than its challenge', async (name, value) => {
    const shop = shopOf()
    const credential = altered(await credentialFor(shop), ({ payload }) => {
      payload[name] = value
    })
    expect(await expectRefused(() => paying(shop, credential), 'malformed-credential')).toContain(
      `payload.${name}`,
    )
  })

  it('whose payer is another than who signed', async () => {
    const shop = shopOf()
    const credential = altered(await credentialFor(shop), (wire) => {
      wire.payload.from = m.market.accounts.walletBuyer.address
      delete wire.source
    })
    await expectRefused(() => paying(shop, credential), 'verification-failed')
  })

  it('whose authorisation ends after its challenge', async () => {
    const shop = clocked()
    const credential = altered(await credentialFor(shop), ({ payload }) => {
      payload.validBefore = String(Number(payload.validBefore) + 1)
    })
    expect(await expectInvalid(() => paying(shop, credential))).toContain('ends after')
  })

  it('that names another source than its payer', async () => {
    const shop = shopOf()
    const credential = altered(await credentialFor(shop), (wire) => {
      wire.source = `did:pkh:eip155:${m.chainId}:${m.market.accounts.walletBuyer.address}`
    })
    await expectRefused(() => paying(shop, credential), 'malformed-credential')
  })

  it('of another realm with the same secret', async () => {
    const [one, other] = ['one', 'other'].map((realm) => clocked({ mpp: { realm, secretKey: SECRET } }))
    if (!one || !other) throw new Error('two shops')
    const credential = await credentialFor(one)
    expect(await expectInvalid(() => paying(other, credential))).toContain('realm "one"')
    expect((await paying(one, credential)).status).toBe(200)
  })

  it('with another link, buyer, URL or method than its challenge was issued for', async () => {
    const shop = clocked()
    const credential = await credentialFor(shop)
    const otherLink = linked(await m.mint({ cashbackOfCommissionBps: 0 }))
    const { 'X-Referrer-Token': token } = linked()
    for (const how of [
      { headers: otherLink },
      { headers: { 'X-Referrer-Token': token } },
      { address: `${URL_OF_SHOP}?pages=2` },
      { address: 'https://shop.test/other' },
    ]) {
      const why = await expectInvalid(() => paying(shop, credential, how))
      expect(why).toContain('another request, ref link or buyer')
    }
    const headers = { ...linked(), Authorization: credential }
    await expectInvalid(() => shop.fetch(new Request(URL_OF_SHOP, { method: 'POST', headers })))
    expect((await paying(shop, credential)).status).toBe(200)
  })

  it('when the price has changed since', async () => {
    let price = PRICE
    const shop = shopOf({ price: () => price })
    const credential = await credentialFor(shop)
    for (price of [PRICE + 1n, PRICE - 1n]) {
      const why = await expectRefused(() => paying(shop, credential), 'verification-failed')
      expect(why).toContain(`authorise exactly ${price}`)
    }
  })

  it('when it has expired', async () => {
    const late = Date.now() - 400_000
    const issuer = shopOf({ now: () => late })
    const credential = await credentialFor(issuer)
    await expectRefused(() => paying(shopOf(), credential), 'payment-expired')
    const { mppx, paid } = client(issuer)
    await expect(mppx.fetch(URL_OF_SHOP, { headers: linked() })).rejects.toThrow('expired')
    expect(paid).toEqual([])
  })

  it('through no link at all, with the text that says what is missing', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop, URL_OF_SHOP, {} as never)
    const why = await expectRefused(() => paying(shop, credential, { headers: {} }), 'verification-failed')
    expect(why).toContain('ref link')
  })

  it('that is none', async () => {
    const tooLong = `Payment ${'A'.repeat(20_000)}`
    for (const credential of ['Payment', 'Payment !', 'Payment e30', 'payment bnVsbA', tooLong]) {
      await expectRefused(() => paying(shopOf(), credential), 'malformed-credential')
    }
  })

  it('beside an x402 payment, whichever came first', async () => {
    const shop = shopOf()
    const credential = await credentialFor(shop)
    const headers = { ...linked(), ...asX402(credential) }
    expect((await expectKept(await paying(shop, credential, { headers }), 400)).detail).toContain('not both')
  })

  it('with headers that name no link', async () => {
    const headers = { 'X-Referrer-Token': 'x'.repeat(5_000) }
    const shop = shopOf()
    await expectKept(await paying(shop, await credentialFor(shop), { headers }), 400)
  })
})

describe('what the merchant answers himself', () => {
  it('stays as it is', async () => {
    let isSold = true
    const shop = shopOf({
      price: () => (isSold ? PRICE : Response.json({ error: 'sold out' }, { status: 404 })),
      serve: () => new Response('no such topic', { status: 404 }),
    })
    const [first, second] = [await credentialFor(shop), await credentialFor(shop)]
    const served = await paying(shop, first)
    expect([served.status, await served.text(), served.headers.get('Payment-Receipt')]).toEqual([
      404,
      'no such topic',
      null,
    ])
    isSold = false
    const refused = await paying(shop, second)
    expect([refused.status, await refused.json()]).toEqual([404, { error: 'sold out' }])
  })

  it('to other schemes of Authorization is what anybody gets', async () => {
    const response = await paying(shopOf(), 'Bearer abc')
    expect([response.status, response.headers.get('content-type')]).toEqual([402, 'application/json'])
  })
})

it('and the books are right', () => books.audit())
