import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AttributionToken, Base64, X402 } from '@referrer/protocol'
import { type Hex, stringToBytes } from 'viem'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  createPaymentMemory,
  createReferralEndpoint,
  type PaymentStore,
  type ReferralConfig,
  type Sale,
} from '../src/index.ts'
import { fileStore } from '../src/node.ts'
import {
  alreadyUsed,
  bodyOf,
  configOf,
  ENDPOINT,
  headerOf,
  type Paid,
  PRICE,
  pay,
  refusal,
  retry,
  settledBy,
  shopOf,
  startWorld,
  TRANSACTION,
  tokenFor,
  told,
  type World,
} from './world.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world?.close())
beforeEach(() => world.facilitator.says(settledBy()))

/** A shop that counts whom it served. */
function counting(changes: Partial<ReferralConfig> = {}) {
  const sales: Sale[] = []
  const shop = shopOf(world, {
    serve: (_request, sale) => {
      sales.push(sale)
      return { number: sales.length }
    },
    ...changes,
  })
  return { ...shop, sales }
}

const DEARER = 'you have paid for something that costs less: send the request again that you paid for'

/** Another process: it has a memory of its own. */
const elsewhere = (store?: PaymentStore, changes: Partial<ReferralConfig> = {}) =>
  createReferralEndpoint({ ...configOf(world), ...remembering(store), ...changes })

const remembering = (store?: PaymentStore) => ({ payments: createPaymentMemory(store && { store }) })

const BEGAN = 'referrer:began'

/** One that has kept records for forty days, or is new. */
function sharedStore({ isNew = false } = {}) {
  const held = new Map<string, { text: string; until: number }>()
  const began = Math.floor(Date.now() / 1_000) - 40 * 86_400
  if (!isNew) held.set(BEGAN, { text: String(began), until: Infinity })
  const store: PaymentStore = {
    read: async (key) => held.get(key)?.text,
    async replace(key, before, next, until) {
      if (held.get(key)?.text !== before) return false
      if (next === undefined) held.delete(key)
      else held.set(key, { text: next, until })
      return true
    },
  }
  return { ...store, held }
}

/** What happens when the chain is so many seconds older; then it is as it was. */
async function later<T>(seconds: number, act: () => Promise<T>): Promise<T> {
  const { client } = world.local
  const id = await client.snapshot()
  await client.increaseTime({ seconds })
  await client.mine({ blocks: 1 })
  try {
    return await act()
  } finally {
    await client.revert({ id })
  }
}

describe('a payment is served once', () => {
  it('however many copies come at once', async () => {
    const others = Promise.withResolvers<void>()
    world.facilitator.says(async (asked) => {
      await others.promise
      return settledBy()(asked)
    })
    const shop = counting()
    const payment = await pay(world)
    let refusals = 0
    const send = async () => {
      const response = await shop.fetch(retry(payment))
      refusals += 1
      if (refusals === 49) others.resolve()
      return response
    }
    const responses = await Promise.all(Array.from({ length: 50 }, send))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(49).fill(409)])
    expect(shop.sales).toHaveLength(1)
    expect(world.facilitator.asked).toHaveLength(1)
    const refused = responses.find(({ status }) => status === 409)
    expect(refused && (await bodyOf(refused))).toEqual(
      told(
        'this payment is being settled or served: wait for its answer, and do not sign another',
        'invalid_payment',
      ),
    )
  })

  it('also when it comes again later, in another spelling', async () => {
    const shop = counting()
    const { header, payload } = await pay(world)
    expect((await shop.fetch(retry({ header }))).status).toBe(200)
    const { authorization } = payload.payload
    const shouted = { ...authorization, nonce: authorization.nonce.toUpperCase().replace('0X', '0x') }
    const respelled = { ...payload, note: 1, payload: { ...payload.payload, authorization: shouted } }
    for (const again of [header, Base64.encode(stringToBytes(JSON.stringify(respelled)), 'standard')]) {
      const response = await shop.fetch(retry({ header: again }))
      expect(response.status).toBe(409)
      expect(await bodyOf(response)).toEqual(
        told('authorization already used', 'invalid_payment', { transaction: TRANSACTION }),
      )
    }
    expect(shop.sales).toHaveLength(1)
    expect(world.facilitator.asked).toHaveLength(1)
  })

  it('by all endpoints of a process together', async () => {
    const [one, other] = [counting(), counting()]
    const payment = await pay(world)
    const responses = await Promise.all([one.fetch(retry(payment)), other.fetch(retry(payment))])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
    expect(one.sales.length + other.sales.length).toBe(1)
  })

  it('and a refused one may be tried again', async () => {
    const shop = counting()
    const payment = await pay(world)
    for (const fields of [{ errorMessage: 'no' }, { errorReason: 'settle_failed', retryable: true }]) {
      world.facilitator.says(refusal(fields))
      expect((await shop.fetch(retry(payment))).status).not.toBe(200)
    }
    world.facilitator.says(settledBy())
    expect((await shop.fetch(retry(payment))).status).toBe(200)
  })

  it('by all processes that share a store', async () => {
    const store = sharedStore()
    const [here, there] = [counting(remembering(store)), elsewhere(store)]
    const payment = await pay(world)
    const responses = await Promise.all([here.fetch(retry(payment)), there.fetch(retry(payment))])
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409])
    const refused = responses.find(({ status }) => status === 409)
    expect(refused?.headers.get('retry-after')).toMatch(/^[0-9]+$/)
    expect(refused && (await bodyOf(refused))).toEqual(
      told(
        'this payment is being settled or served: wait for its answer, and do not sign another',
        'invalid_payment',
      ),
    )
    const { from, nonce } = payment.payload.payload.authorization
    expect([...store.held.keys()]).toEqual([
      BEGAN,
      `eip155:${world.local.chain.id}:${from}:${nonce}`.toLowerCase(),
    ])
    expect(await bodyOf(await there.fetch(retry(payment)))).toEqual(
      told('authorization already used', 'invalid_payment', { transaction: TRANSACTION }),
    )
  })

  it('and is not sent anywhere while the store fails', async () => {
    const shop = counting(remembering({ ...sharedStore(), read: () => Promise.reject(new Error('down')) }))
    const response = await shop.fetch(retry(await pay(world)))
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
    expect(world.facilitator.asked).toHaveLength(0)
    expect(shop.events).toMatchObject([{ type: 'claims_failed' }])
  })
})

describe('a payment that was not served', () => {
  it('because serve failed is served when it comes again, without another settlement', async () => {
    const failures: (() => unknown)[] = [
      () => Promise.reject(new Error('out of jokes')),
      () => new Response('boom', { status: 500 }),
      () => ({ big: 1n }),
    ]
    for (const fail of failures) {
      world.facilitator.says(settledBy())
      let serve = fail
      const shop = shopOf(world, { serve: () => serve() })
      const payment = await pay(world)
      const failed = await shop.fetch(retry(payment))
      expect(failed.status).toBe(500)
      expect(await bodyOf(failed)).toEqual({
        error:
          'you have paid, and serving failed: send the same PAYMENT-SIGNATURE again, it will be served without paying again',
        transaction: TRANSACTION,
      })
      expect(headerOf(failed, 'PAYMENT-RESPONSE')).toMatchObject({ success: true, transaction: TRANSACTION })
      expect(shop.events).toMatchObject([{ type: 'serve_failed', sale: { transaction: TRANSACTION } }])

      serve = () => ({ joke: 'at last' })
      const served = await shop.fetch(retry(payment))
      expect(served.status).toBe(200)
      expect(await bodyOf(served)).toEqual({ joke: 'at last', transaction: TRANSACTION })
      expect((await shop.fetch(retry(payment))).status).toBe(409)
      expect(world.facilitator.asked).toHaveLength(1)
    }
  })

  it('is kept for thirty days', async () => {
    const day = 86_400_000
    for (const [later, status] of [
      [30 * day - 60_000, 200],
      [30 * day + 60_000, 409],
    ] as const) {
      world.facilitator.says(settledBy())
      let isBroken = true
      let now = Date.now()
      const serve = () => {
        if (isBroken) throw new Error('broken')
        return {}
      }
      const shop = shopOf(world, { now: () => now, serve, ...remembering() })
      const payment = await pay(world)
      expect((await shop.fetch(retry(payment))).status).toBe(500)
      isBroken = false
      now += later
      world.facilitator.says(alreadyUsed(TRANSACTION))
      expect((await shop.fetch(retry(payment))).status).toBe(status)
    }
  })

  it('is not handed to somebody who only knows its payer and nonce, nor by an endpoint that sells something else', async () => {
    let isBroken = true
    const shop = shopOf(world, {
      serve: () => {
        if (isBroken) throw new Error('broken')
      },
    })
    const { header, payload } = await pay(world)
    await shop.fetch(retry({ header }))
    isBroken = false
    const guessed = { ...payload, payload: { ...payload.payload, signature: '0x1234' as const } }
    const response = await shop.fetch(retry({ header: X402.PaymentPayload.serialize(guessed) }))
    expect(response.status).toBe(409)
    expect((await bodyOf(response)).error).toBe(
      'this authorisation came before in another payment: send that one again',
    )
    for (const changes of [{ product: { id: `0x${'cc'.repeat(32)}` as Hex } }, { merchantId: 999 }]) {
      expect((await shopOf(world, changes).fetch(retry({ header }))).status).toBe(409)
    }
    expect((await shopOf(world).fetch(retry({ header }))).status).toBe(200)
  })

  it('is served what was paid for, and nothing that costs more', async () => {
    const gone = new AbortController()
    world.facilitator.says((asked) => {
      gone.abort()
      return settledBy()(asked)
    })
    const shop = counting({ price: ({ url }) => (url.endsWith('?dear') ? PRICE + 1n : PRICE) })
    const payment = await pay(world)
    const headers = { 'PAYMENT-SIGNATURE': payment.header }
    expect((await shop.fetch(retry(payment, { signal: gone.signal }))).status).toBe(503)
    const dearer = await shop.fetch(new Request(`${ENDPOINT}?dear`, { headers }))
    expect(dearer.status).toBe(409)
    expect(await bodyOf(dearer)).toEqual(told(DEARER, 'invalid_payment', { transaction: TRANSACTION }))
    expect(shop.sales).toHaveLength(0)
    expect((await shop.fetch(retry(payment))).status).toBe(200)
    expect(shop.sales).toHaveLength(1)
  })

  it('because the buyer hung up while it was settled is served when it comes again', async () => {
    const gone = new AbortController()
    world.facilitator.says((asked) => {
      gone.abort()
      return settledBy()(asked)
    })
    const shop = counting()
    const payment = await pay(world)
    await shop.fetch(retry(payment, { signal: gone.signal }))
    expect(shop.sales).toHaveLength(0)
    expect(shop.events).toMatchObject([{ type: 'buyer_gone' }])
    expect((await shop.fetch(retry(payment))).status).toBe(200)
    expect(shop.sales).toHaveLength(1)
  })
})

describe('a payment whose settlement nobody heard of', () => {
  const standing = (transaction: string) => ({ status: 'settled', transaction, message: null })

  it('is served at once when the facilitator remembers it and the chain shows it as our sale', async () => {
    const payment = await pay(world)
    let transaction = ''
    world.facilitator.says(
      async () => {
        transaction = await payment.settleOnChain()
        return 'cut' as const
      },
      () => standing(transaction),
    )
    const shop = counting()
    const response = await shop.fetch(retry(payment))
    expect(response.status).toBe(200)
    expect(await bodyOf(response)).toEqual({ number: 1, transaction })
    expect(shop.sales).toMatchObject([{ transaction, amount: PRICE }])
  })

  it('is served when it comes again after a 504', async () => {
    for (const then of [alreadyUsed, () => refusal({ errorMessage: 'authorization expired' })]) {
      const payment = await pay(world)
      const shop = counting()
      world.facilitator.says('cut')
      expect((await shop.fetch(retry(payment))).status).toBe(504)
      const transaction = await payment.settleOnChain()
      world.facilitator.says(then(transaction), standing(transaction))
      const response = await shop.fetch(retry(payment))
      expect(response.status).toBe(200)
      expect(await bodyOf(response)).toEqual({ number: 1, transaction })
      expect((await shop.fetch(retry(payment))).status).toBe(409)
    }
  })

  it('stays in doubt until somebody can tell', async () => {
    const payment = await pay(world)
    const shop = counting()
    const expired = refusal({ errorMessage: 'authorization expired' })
    for (const [settle, asked, status] of [
      ['cut', 'cut', 504],
      [refusal({ errorReason: 'settle_failed', retryable: true }), 'cut', 503],
      [{ status: 429, text: '' }, 'cut', 503],
      [expired, 'cut', 504],
      [expired, { status: 'pending' }, 504],
      // The facilitator is ahead of our node.
      [alreadyUsed(TRANSACTION), 'cut', 504],
      // The facilitator knows no transaction.
      [alreadyUsed(), 'cut', 409],
    ] as const) {
      world.facilitator.says(settle, asked)
      expect((await shop.fetch(retry(payment))).status).toBe(status)
    }
    const transaction = await payment.settleOnChain()
    world.facilitator.says(alreadyUsed(transaction))
    expect((await shop.fetch(retry(payment))).status).toBe(200)
  })

  it('is refused when the facilitator knows that it was never settled', async () => {
    const payment = await pay(world)
    const shop = counting()
    world.facilitator.says('cut')
    expect((await shop.fetch(retry(payment))).status).toBe(504)
    world.facilitator.says(refusal({ errorMessage: 'authorization expired' }), { status: 'unknown' })
    const response = await shop.fetch(retry(payment))
    expect(response.status).toBe(402)
    expect(await bodyOf(response)).toMatchObject({ error: 'authorization expired' })
  })

  it('is not served for a sale of another merchant, product, price or link, nor for somebody else', async () => {
    const { merchantId } = world.product
    const [mine, others, cheap] = [await pay(world), await pay(world), await pay(world, { value: 2_000n })]
    const transaction = await mine.settleOnChain()
    const cheaply = await cheap.settleOnChain()
    for (const [{ payload }, settled, changes, link] of [
      [await pay(world), await others.settleOnChain(), {}],
      [cheap, cheaply, {}],
      [mine, transaction, { merchantId: merchantId + 1n, product: {} }],
      [mine, transaction, { product: { id: `0x${'cc'.repeat(32)}` } }],
      [mine, transaction, {}, { reviewId: Number(world.reviewId) + 1 }],
      [mine, transaction, {}, { reviewerAgentId: Number(world.reviewerAgentId) + 1 }],
      [mine, transaction, {}, { cashbackOfCommissionBps: 0 }],
    ] as [Paid, Hex, Partial<ReferralConfig>, Partial<AttributionToken.Terms>?][]) {
      const sold = { merchantId: Number(changes.merchantId ?? merchantId) }
      const attributionToken = await tokenFor(world, { ...sold, ...link })
      // A payment that commits to another product is refused before anybody is asked.
      const salt = changes.product?.id && { attributionSalt: null }
      const extensions = { ...payload.extensions, attributionToken, ...salt }
      const payment = { header: X402.PaymentPayload.serialize({ ...payload, extensions }) }
      for (const settle of [alreadyUsed(settled), 'cut'] as const) {
        world.facilitator.says(settle, standing(settled))
        const response = await elsewhere(sharedStore(), changes).fetch(retry(payment))
        expect(response.status).toBe(409)
        const why = settled === cheaply ? DEARER : 'authorization already used'
        expect(await bodyOf(response)).toEqual(told(why, 'invalid_payment', { transaction: settled }))
      }
    }
  })

  it('is served by an endpoint that names the product which the link led to', async () => {
    const payment = await pay(world)
    world.facilitator.says('cut')
    expect((await counting({ product: {} }).fetch(retry(payment))).status).toBe(504)
    world.facilitator.says(alreadyUsed(await payment.settleOnChain()))
    expect((await counting().fetch(retry(payment))).status).toBe(200)
  })

  it('is not served to whoever comes with an old one while the facilitator is out', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says('cut', standing(transaction))
    const response = await later(120, () => counting().fetch(retry(payment)))
    expect(response.status).toBe(409)
    expect(await bodyOf(response)).toEqual(
      told('authorization already used', 'invalid_payment', { transaction }),
    )
  })

  it('is served by another process that shares the store', async () => {
    const store = sharedStore()
    const payment = await pay(world)
    world.facilitator.says('cut')
    expect((await counting(remembering(store)).fetch(retry(payment))).status).toBe(504)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(alreadyUsed(transaction))
    expect((await elsewhere(store).fetch(retry(payment))).status).toBe(200)
    expect((await elsewhere(store).fetch(retry(payment))).status).toBe(409)
  })

  it('is not served once the store may have forgotten it', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(alreadyUsed(transaction))
    const shop = counting(remembering(sharedStore()))
    const response = await later(86_400, () => shop.fetch(retry(payment)))
    expect(response.status).toBe(409)
  })

  it('is served to nobody who only knows its payer and nonce, and nobody is asked to pay again', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    const { payload } = payment
    const { authorization } = payload.payload
    const altered = { ...authorization, validBefore: String(Number(authorization.validBefore) + 1) }
    const guessed = { ...payload, payload: { authorization: altered, signature: '0x1234' as const } }
    const refused = refusal({ errorMessage: 'signature does not match from' })
    for (const store of [sharedStore(), undefined]) {
      world.facilitator.says(refused, standing(transaction))
      const shop = counting(store && remembering(store))
      const response = await shop.fetch(retry({ header: X402.PaymentPayload.serialize(guessed) }))
      expect([response.status, shop.sales.length]).toEqual([409, 0])
      expect(await bodyOf(response)).toEqual(told('authorization already used', 'invalid_payment'))
    }
  })

  it('is not served again to whoever writes another end into it once the store has forgotten it', async () => {
    const payment = await pay(world)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(alreadyUsed(transaction))
    const { payload } = payment
    const authorization = { ...payload.payload.authorization, validBefore: String(2 ** 40) }
    const altered = { ...payload, payload: { ...payload.payload, authorization } }
    const shop = counting(remembering(sharedStore()))
    const request = retry({ header: X402.PaymentPayload.serialize(altered) })
    const response = await later(90_000, () => shop.fetch(request))
    expect([response.status, shop.sales.length]).toEqual([409, 0])
  })

  it('is recorded for a day at least and thirty at most, whatever end is written into it', async () => {
    const store = sharedStore()
    const now = Date.now()
    const shop = counting({ ...remembering(store), now: () => now })
    for (const [validBefore, days] of [
      ['1', 1],
      [String(2 ** 40), 30],
    ] as const) {
      const before = new Set(store.held.keys())
      world.facilitator.says('cut')
      const { payload } = await pay(world)
      const authorization = { ...payload.payload.authorization, validBefore }
      const altered = { ...payload, payload: { ...payload.payload, authorization } }
      await shop.fetch(retry({ header: X402.PaymentPayload.serialize(altered) }))
      const written = [...store.held].filter(([key]) => !before.has(key))
      expect(written.map(([, { until }]) => until)).toEqual([Math.floor(now / 1_000) + days * 86_400])
    }
  })

  it('is not served by another process without one', async () => {
    const payment = await pay(world)
    world.facilitator.says('cut')
    expect((await counting().fetch(retry(payment))).status).toBe(504)
    const transaction = await payment.settleOnChain()
    world.facilitator.says(alreadyUsed(transaction))
    expect((await elsewhere().fetch(retry(payment))).status).toBe(409)
  })

  describe.each([
    [
      'a table',
      () => {
        const state = { table: sharedStore({ isNew: true }) }
        const lose = () => {
          state.table = sharedStore({ isNew: true })
        }
        return { open: () => state.table, lose }
      },
    ],
    [
      'a file',
      () => {
        const path = join(mkdtempSync(join(tmpdir(), 'payments-')), 'payments.log')
        return { open: () => fileStore(path), lose: () => rmSync(path) }
      },
    ],
    ['no store', () => ({ open: () => undefined, lose: () => {} })],
  ])('in %s', (_, make) => {
    it('is not served again once its record is lost, nor asked to be paid again', async () => {
      for (const [settle, hasTransaction] of [
        [alreadyUsed, true],
        [() => 'cut' as const, true],
        [() => refusal({ errorMessage: 'authorization.value is not the amount' }), false],
      ] as const) {
        const { open, lose } = make()
        const payment = await pay(world)
        let transaction = ''
        world.facilitator.says(async (asked) => {
          transaction = await payment.settleOnChain()
          return settledBy(transaction)(asked)
        })
        expect((await counting(remembering(open())).fetch(retry(payment))).status).toBe(200)
        lose()
        world.facilitator.says(settle(transaction), standing(transaction))
        // The next process starts two minutes later; the chain has made no block since.
        const now = () => Date.now() + 120_000
        const store = open()
        const payments = createPaymentMemory({ now, ...(store && { store }) })
        const restarted = counting({ payments, now })
        for (let time = 0; time < 3; time++) {
          const response = await restarted.fetch(retry(payment))
          expect([response.status, response.headers.has('PAYMENT-REQUIRED')]).toEqual([409, false])
          if (hasTransaction) expect(await bodyOf(response)).toMatchObject({ transaction })
        }
        expect(restarted.sales).toEqual([])
      }
    })

    it('is served where it was taken since the records began', async () => {
      const { open } = make()
      const payment = await pay(world)
      const shop = counting(remembering(open()))
      world.facilitator.says('cut')
      expect((await shop.fetch(retry(payment))).status).toBe(504)
      world.facilitator.says(alreadyUsed(await payment.settleOnChain()))
      expect((await shop.fetch(retry(payment))).status).toBe(200)
    })
  })

  it('is served without a record where the store has kept them since before', async () => {
    for (const [isNew, status] of [
      [false, 200],
      [true, 409],
    ] as const) {
      const payment = await pay(world)
      world.facilitator.says(alreadyUsed(await payment.settleOnChain()))
      const response = await elsewhere(sharedStore({ isNew })).fetch(retry(payment))
      expect([isNew, response.status]).toEqual([isNew, status])
    }
  })
})
