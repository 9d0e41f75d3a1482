import { Base64 } from '@referrer/protocol'
import fc from 'fast-check'
import { stringToBytes } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it, test } from 'vitest'
import {
  alreadyUsed,
  bodyOf,
  headerOf,
  PRICE,
  pay,
  refusal,
  retry,
  SETUP_URL,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  told,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())
beforeEach(() => world.facilitator.says(settledBy()))

const network = () => `eip155:${world.local.chain.id}`

describe('a payment that is not settled', () => {
  /** What the buyer gets when the facilitator says this; it must not be the resource. */
  async function answerTo(...script: Parameters<World['facilitator']['says']>) {
    world.facilitator.says(...script)
    let isServed = false
    const shop = shopOf(world, {
      // Whatever answers at all answers at once.
      ...(script[0] === 'hang' && { timeoutMs: 100 }),
      serve: () => {
        isServed = true
      },
    })
    const payment = await pay(world)
    const response = await shop.fetch(retry(payment))
    expect(isServed).toBe(false)
    return { response, body: await bodyOf(response), events: shop.events, payment }
  }

  it('is refused with the offer, the reason and the text of the facilitator [REF-29]', async () => {
    for (const errorReason of ['invalid_payment', 'self_referral', 'settle_failed']) {
      const { response, body, payment } = await answerTo(refusal({ errorReason, errorMessage: 'because' }))
      expect(response.status).toBe(402)
      expect(body).toMatchObject({
        x402Version: 2,
        error: 'because',
        errorReason,
        errorMessage: 'because',
        accepts: [{ amount: String(PRICE) }],
      })
      expect(body.extensions).toEqual({
        attributionToken: payment.payload.extensions.attributionToken,
        setup_url: SETUP_URL,
      })
      expect(headerOf(response, 'PAYMENT-REQUIRED')).toEqual(body)
      expect(headerOf(response, 'PAYMENT-RESPONSE')).toEqual({
        success: false,
        errorReason,
        errorMessage: 'because',
        transaction: '',
        network: network(),
      })
    }
  })

  it('tells the buyer the call by which it takes back what reached the router', async () => {
    const call = { to: world.market.addresses.SplitRouter, data: '0x1234', not_before: 1_900_000_000 }
    const failed = refusal({ errorReason: 'settle_failed', errorMessage: 'closed', take_back: call })
    const refused = await answerTo(failed)
    expect(refused.response.status).toBe(402)
    expect(refused.body.take_back).toEqual(call)
    expect(headerOf(refused.response, 'PAYMENT-REQUIRED')).toEqual(refused.body)
    const open = await answerTo({ ...failed, pending: true })
    expect([open.response.status, open.body.take_back]).toEqual([504, call])
    const later = await answerTo({ ...failed, retryable: true })
    expect([later.response.status, later.body.take_back]).toEqual([503, call])
    for (const junk of [{ ...call, to: '0x12' }, { ...call, data: `0x${'00'.repeat(5_000)}` }, 'now', 7]) {
      expect((await answerTo({ ...failed, take_back: junk })).body).not.toHaveProperty('take_back')
    }
  })

  it('that was used before gets 409 with its transaction, never 402', async () => {
    const { response, body, events } = await answerTo(alreadyUsed(TRANSACTION))
    expect(response.status).toBe(409)
    expect(body).toEqual(told('authorization already used', 'invalid_payment', { transaction: TRANSACTION }))
    expect(events).toMatchObject([{ type: 'repeated', transaction: TRANSACTION }])
  })

  it('that may be tried again gets 503, not another offer', async () => {
    const { response, body } = await answerTo(
      refusal({ errorReason: 'settle_failed', errorMessage: 'busy; send it again', retryable: true }),
    )
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('5')
    expect(body).toEqual(told('busy; send it again', 'settle_failed'))
  })

  it('whose outcome is open gets 504, which says not to sign another, and until when', async () => {
    const unsure =
      'it is not known yet whether this payment was settled: send the same PAYMENT-SIGNATURE again, and do not sign a new one'
    const pending = refusal({ errorReason: 'settle_failed', errorMessage: 'not mined yet', pending: true })
    const until = 1_900_000_000
    for (const [answer, text] of [
      [pending, unsure],
      [{ ...pending, until }, `${unsure} before 2030-03-17T17:46:40.000Z`],
    ] as const) {
      const { response, body, events } = await answerTo(answer)
      expect(response.status).toBe(504)
      expect(response.headers.get('retry-after')).toBe('5')
      expect([body.error, body.until]).toEqual([text, 'until' in answer ? until : undefined])
      expect(events).toMatchObject([{ type: 'unsure', message: 'not mined yet' }])
      expect(world.facilitator.asked).toHaveLength(1)
    }
  })

  it('that is refused, or whose answer is lost, gets 504 while the facilitator says that it may still be taken', async () => {
    const standing = { status: 'pending', transaction: null, message: null, until: 1_900_000_000 }
    for (const settle of [
      'cut',
      refusal({ errorReason: 'settle_failed', errorMessage: 'reverted' }),
    ] as const) {
      const { response, body } = await answerTo(settle, standing)
      expect([response.status, body.until]).toEqual([504, 1_900_000_000])
    }
  })

  test.each<[string, Parameters<World['facilitator']['says']>[0]]>([
    ['hangs', 'hang'],
    ['breaks the connection', 'cut'],
    ['answers 502', { status: 502, text: 'bad gateway' }],
    ['answers 408', { status: 408, text: '' }],
    ['answers 200 with no JSON', { status: 200, text: 'ok' }],
    ['answers 200 without success', { transaction: TRANSACTION }],
    ['answers success without a transaction', { success: true, network: 'eip155:31337' }],
    ['answers success as text', { success: 'true', transaction: TRANSACTION }],
    ['answers without end', { status: 200, text: 'x'.repeat(100_000) }],
  ])('gets 504 when the facilitator %s and cannot tell', async (_how, settle) => {
    for (const standing of [
      'cut',
      { status: 'pending' },
      { status: 'unknown' },
      { status: 404, text: '' },
    ] as const) {
      const { response, payment } = await answerTo(settle, standing)
      expect(response.status).toBe(504)
      const { from, nonce } = payment.payload.payload.authorization
      expect(world.facilitator.asked.at(-1)).toMatchObject({
        method: 'GET',
        path: `/settlements/${from}/${nonce}?chain_id=${world.local.chain.id}`.toLowerCase(),
      })
    }
  })

  it('is refused when the facilitator remembers that no money moved', async () => {
    for (const [message, error] of [
      ['reverted', 'reverted'],
      [null, 'the payment was not settled'],
    ]) {
      const { response, body } = await answerTo('cut', { status: 'failed', transaction: null, message })
      expect(response.status).toBe(402)
      expect(body).toMatchObject({ error, errorReason: 'settle_failed' })
    }
  })

  it('gets 503 when the facilitator turns the merchant away, and the merchant is told why', async () => {
    for (const [status, advice] of [
      [400, 'facilitatorUrl'],
      [401, 'signingKey'],
      [403, 'SETTLEMENT_SIGNER_ROLE'],
      [404, 'facilitatorUrl'],
      [429, 'too often'],
      [308, 'redirects'],
    ] as const) {
      const text = JSON.stringify({ error: 'unauthorized', detail: 'signer not allowed' })
      const { response, body, events } = await answerTo({ status, text })
      expect(response.status).toBe(503)
      expect(response.headers.get('retry-after')).toBe('5')
      const message = 'payments cannot be settled right now; send the same one again'
      expect(body).toEqual(told(message, 'settle_failed'))
      expect(events).toMatchObject([{ type: 'facilitator_refused' }])
      expect(JSON.stringify(events)).toContain(`${status} (unauthorized: signer not allowed)`)
      expect(JSON.stringify(events)).toContain(advice)
    }
  })

  it('gets 503 when the hot key does not sign', async () => {
    const signingKey = { signMessage: () => Promise.reject(new Error('the vault is closed')) }
    const shop = shopOf(world, { signingKey })
    expect((await shop.fetch(retry(await pay(world)))).status).toBe(503)
    expect(shop.events).toEqual([
      { type: 'facilitator_refused', message: 'signingKey does not sign: the vault is closed' },
    ])
    expect(world.facilitator.asked).toHaveLength(0)
  })
})

describe('a header that is no payment', () => {
  it('gets the offer with a text that says what is wrong', async () => {
    for (const header of ['', '%%%', 'abcd=', Base64.encode(stringToBytes('{'), 'url'), 'e'.repeat(16_385)]) {
      const response = await shopOf(world).fetch(retry({ header }))
      expect(response.status).toBe(402)
      const body = await bodyOf(response)
      expect(body).toMatchObject({ errorReason: 'invalid_payment', accepts: [{ amount: String(PRICE) }] })
      expect(body.error).toMatch(/\w{4}/)
      expect(world.facilitator.asked).toHaveLength(0)
    }
  })

  test('whatever the header, nobody is served by accident and nothing breaks', async () => {
    world.facilitator.says(refusal({ errorMessage: 'no' }))
    const { payload } = await pay(world)
    const deep = `${'['.repeat(6_000)}${']'.repeat(6_000)}`
    const shop = shopOf(world)
    const json = fc.oneof(
      fc.json(),
      fc.constantFrom(deep, `{"extensions":${deep}}`, '{"__proto__":{"payload":1}}', 'null', '0'),
      fc
        .tuple(fc.constantFrom('from', 'nonce', 'value', 'validBefore'), fc.jsonValue())
        .map(([name, value]) => {
          const authorization = { ...payload.payload.authorization, [name]: value }
          return JSON.stringify({ ...payload, payload: { ...payload.payload, authorization } })
        }),
      fc
        .tuple(
          fc.constantFrom('attributionToken', 'buyerAgentId'),
          fc.oneof(fc.jsonValue(), fc.string({ maxLength: 6_000 })),
        )
        .map(([name, value]) =>
          JSON.stringify({ ...payload, extensions: { ...payload.extensions, [name]: value } }),
        ),
    )
    const header = fc.oneof(
      json.map((text) => Base64.encode(stringToBytes(text), 'url')),
      fc.base64String({ maxLength: 2_000 }),
      fc.string({ unit: fc.integer({ min: 0x21, max: 0xff }).map((code) => String.fromCharCode(code)) }),
    )
    await fc.assert(
      fc.asyncProperty(header, async (text) => {
        const response = await shop.fetch(retry({ header: text }))
        expect(response.status).toBe(402)
      }),
      { numRuns: 300 },
    )
  })
})
