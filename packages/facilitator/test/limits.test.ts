import { seedOf } from '@referrer/chain/testing'
import { type Operation, operationsOf } from '@referrer/process/openapi/testing'
import fc from 'fast-check'
import { bytesToHex, type Hex, type LocalAccount, zeroAddress } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { type Answer, send } from './asking.ts'
import { credentialBody } from './credentials.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'
import { hostileTo } from './hostile.ts'
import type { PayloadOptions } from './payloads.ts'

const seed = seedOf()
const MOST_BYTES = 64 * 1_024

let m: TestFacilitator
let books: Books
let buyer: LocalAccount

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = await m.newBuyer()
  const document = (await m.call('GET', '/openapi.json')).body
  operations = new Map(operationsOf(document).map((operation) => [operation.name, operation]))
})
afterAll(() => m?.close())

let operations: Map<string, Operation>

function expectDocumented(operation: string, { status, headers, text }: Answer): void {
  const found = operations.get(operation)?.violation({ status, headers: Object.fromEntries(headers), text })
  expect(found, `${operation} answered with ${status} ${text}`).toBeUndefined()
  expect(status).toBeLessThan(500)
}

const ROUTES = ['/settle', '/verify', '/mpp/charge']

describe('a request', () => {
  it.each(ROUTES)('to %s may have 64 KiB and no more', async (path) => {
    const padded = (bytes: number) => {
      const open = '{"x402Version":2,"padding":"'
      return `${open}${' '.repeat(bytes - open.length - 2)}"}`
    }
    expect((await m.call('POST', path, { body: padded(MOST_BYTES) })).status).not.toBe(413)
    const answer = await m.call('POST', path, { body: padded(MOST_BYTES + 1) })
    expect([answer.status, answer.body]).toMatchObject([413, { error: 'request body too large' }])
  })

  it('of a real payment is read although it is padded to the most', async () => {
    const { paymentPayload, ...rest } = await m.payload(buyer)
    const body = {
      ...rest,
      paymentPayload: { ...paymentPayload, resource: { url: 'https://shop.test/', description: '' } },
    }
    body.paymentPayload.resource.description = 'x'.repeat(MOST_BYTES - JSON.stringify(body).length)
    expect(JSON.stringify(body)).toHaveLength(MOST_BYTES)
    expect((await m.settle(body)).body.success).toBe(true)
    await books.audit()
  })

  it('is one of a limited number for each client, but not from those who watch over it', async () => {
    let now = Date.now()
    const settings = { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' }
    const limited = await m.startAnother(settings, { clock: () => now })
    try {
      const ask = (path: string) => send(limited.url, 'GET', path)
      const statuses = async () => [(await ask('/supported')).status, (await ask('/supported')).status]
      expect(await statuses()).toEqual([200, 200])
      const refused = await ask('/supported')
      expect([refused.status, refused.headers.get('retry-after'), refused.body]).toMatchObject([
        429,
        '1',
        { error: 'rate limited' },
      ])
      for (const path of ['/healthz', '/readyz', '/metrics']) expect((await ask(path)).status).toBe(200)
      now += 1_000
      expect(await statuses()).toEqual([200, 429])
    } finally {
      await limited.stop()
    }
  })

  it('counts for the limit of its client at every process', async () => {
    const now = Date.now()
    const clock = () => now
    const settings = {
      RATE_LIMIT_PER_SECOND: '1',
      RATE_LIMIT_BURST: '5',
      LIMITS: 'postgres',
      LIMITS_TIMEOUT_MS: '10000',
    }
    const two = [await m.startAnother(settings, { clock }), await m.startAnother(settings, { clock })]
    try {
      const statuses: number[] = []
      for (let sent = 0; sent < 10; sent += 1) {
        statuses.push((await send(two[sent % 2]?.url ?? '', 'POST', '/verify', { body: '{}' })).status)
      }
      expect(statuses.map((status) => status === 429)).toEqual(statuses.map((_, sent) => sent >= 5))
      expect((await send(two[0]?.url ?? '', 'GET', '/metrics')).text).toContain(
        'referrer_limits_store_up 1\n',
      )
    } finally {
      for (const each of two) await each.stop()
    }
  })

  it('may have headers of 16 KiB and no more', async () => {
    const answer = await m.call('GET', '/supported', { headers: { 'x-padding': 'x'.repeat(17_000) } })
    expect([answer.status, answer.body]).toMatchObject([431, { error: 'request headers too large' }])
  })
})

describe(`whatever is sent (SEED=${seed})`, () => {
  const salt: Hex = `0x${'5d'.repeat(32)}`

  it('as a payment is answered as documented, and pays at most once', async () => {
    const bodies = [await m.payload(buyer), await m.payload(buyer, { salt })]
    await fc.assert(
      fc.asyncProperty(hostileTo(bodies), fc.constantFrom('/settle', '/verify'), async (body, path) => {
        const answer = await m.call('POST', path, { body: JSON.stringify(body) ?? 'undefined' })
        expectDocumented(`POST ${path}`, answer)
        if (answer.body.isValid || answer.body.success)
          expect(operations.get(`POST ${path}`)?.takes(body), JSON.stringify(body)).toBe(true)
      }),
      { seed, numRuns: 300 },
    )
    await books.audit()
    for (const body of bodies) await m.settle(body)
    for (const body of bodies) {
      expect((await m.settle(body)).body.errorMessage).toBe('authorization already used')
    }
    await books.audit()
  })

  it('and signed, with whatever numbers, is answered as documented, and settled just when it was valid', async () => {
    const { router, usdc } = m.till
    const now = (await m.chain.client.getBlock()).timestamp
    const times = fc.constantFrom(0n, 1n, now, now + 60n, 2n ** 64n - 1n, 2n ** 64n, 2n ** 256n - 1n)
    const odd = {
      amount: fc.constantFrom(1n, 2n, 9_999n, 2n ** 53n - 1n),
      validAfter: times,
      validBefore: times,
      nonce: fc.constantFrom<Hex>(`0x${'00'.repeat(32)}`, `0x${'ff'.repeat(32)}`),
      from: fc.constantFrom(router, usdc, m.relayers[0].address, zeroAddress),
      buyerAgentId: fc.constantFrom('0', '1', '9007199254740991'),
      type: fc.constantFrom<PayloadOptions['type']>('ReceiveWithAuthorization', 'TransferWithAuthorization'),
      extensions: fc.constantFrom({ attributionSalt: salt }, { attributionSalt: null }),
    }
    const names = Object.keys(odd) as (keyof typeof odd)[]
    const signed = fc
      .tuple(fc.record(odd), fc.shuffledSubarray(names, { maxLength: 2 }))
      .map(([all, some]) => Object.fromEntries(some.map((name) => [name, all[name]])) as PayloadOptions)
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 4_200 }).map((each) => bytesToHex(each))
    const products = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((each) => bytesToHex(each))
    const seldom = <T>(given: fc.Arbitrary<T>) =>
      fc.oneof({ weight: 4, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: given })
    await fc.assert(
      fc.asyncProperty(signed, seldom(bytes), seldom(products), async (options, signature, productId) => {
        const body = await m.payload(buyer, options)
        if (signature) body.paymentPayload.payload.signature = signature
        if (productId) body.paymentRequirements.extra = { ...m.till.token, productId }
        const [verified, settled] = [await m.verify(body), await m.settle(body)]
        expectDocumented('POST /verify', verified)
        expectDocumented('POST /settle', settled)
        expect(settled.body.success).toBe(verified.body.isValid)
        if (settled.body.success) expect(operations.get('POST /settle')?.takes(body)).toBe(true)
      }),
      { seed, numRuns: 60 },
    )
    await books.audit()
  })

  it('as a charge is answered as documented', async () => {
    const charge = {
      txHash: `0x${'11'.repeat(32)}`,
      attributionToken: m.till.attributionToken,
      buyerAgentId: '1',
      chainId: m.chainId,
      buyerSignature: `0x${'22'.repeat(65)}`,
    }
    const credential = { ...(await credentialBody(m, buyer)), amount: '1', buyerAgentId: '1' }
    await fc.assert(
      fc.asyncProperty(hostileTo([charge, credential]), async (body) => {
        const answer = await m.call('POST', '/mpp/charge', { body: JSON.stringify(body) ?? 'undefined' })
        expectDocumented('POST /mpp/charge', answer)
      }),
      { seed, numRuns: 100, examples: [[{ ...charge, chainId: { toString: null } }]] },
    )
    await books.audit()
  })

  it('that is no JSON object is answered with 400', async () => {
    const whole = JSON.stringify(await m.payload(buyer))
    const cut = fc.nat(whole.length - 1).map((length) => whole.slice(0, length))
    const bytes = fc.uint8Array({ maxLength: 200 }).filter((each) => each[0] !== 0x7b)
    await fc.assert(
      fc.asyncProperty(fc.oneof(cut, bytes), fc.constantFrom(...ROUTES), async (body, path) => {
        const answer = await m.call('POST', path, { body })
        expect(answer.status).toBe(400)
        expectDocumented(`POST ${path}`, answer)
      }),
      { seed, numRuns: 100 },
    )
  })

  it('as a question about a settlement is answered as documented', async () => {
    const { nonce } = (await m.payload(buyer)).paymentPayload.payload.authorization
    const odd = fc.oneof(
      fc.string({ minLength: 1 }),
      fc.constantFrom('..', '%00', '%zz', '0x', nonce, buyer.address),
    )
    const part = (good: string) => fc.oneof(fc.constant(good), odd.map(spelled))
    const query = fc.oneof(
      fc.constant(''),
      odd.map((each) => `?chain_id=${spelled(each)}`),
    )
    await fc.assert(
      fc.asyncProperty(part(buyer.address), part(nonce), query, async (payer, name, asked) => {
        const answer = await m.call('GET', `/settlements/${payer}/${name}${asked}`)
        // With dots it is another path.
        if (answer.status !== 404) expectDocumented('GET /settlements/{payer}/{nonce}', answer)
        else expect(answer.body).toMatchObject({ error: 'not found', errorReason: 'not_found' })
      }),
      { seed, numRuns: 100 },
    )
  })
})

/** As a part of a path, whatever it is. */
const spelled = (part: string) => (part.startsWith('%') ? part : encodeURIComponent(part))
