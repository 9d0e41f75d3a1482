import {
  createPaymentMemory,
  createReferralEndpoint,
  type ReferralConfig,
  type ReferralEndpoint,
} from '@referrer/merchant'
import type { LocalAccount } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRICE, startTestFacilitator, type TestFacilitator } from '../harness.ts'
import type { Body, PayloadOptions } from '../payloads.ts'
import { act, submission } from './acts.ts'
import { type Books, openBooks } from './books.ts'
import { openShopBooks, type Shop, servedTo, shopSettings, startShop } from './shops.ts'

let m: TestFacilitator
let books: Books
let shop: Shop
let sister: Shop

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  await openShopBooks(m)
  const shops = await Promise.all([startShop(m), startShop(m)])
  shop = shops[0]
  sister = shops[1]
})
afterAll(async () => {
  await Promise.all([shop.kill(), sister.kill()])
  await m?.close()
})

const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const headerOf = ({ paymentPayload }: Body) => base64(paymentPayload)

interface Purchase {
  status: number
  goods: unknown
  transaction: unknown
}

async function buy(url: string, header: string): Promise<Purchase> {
  const response = await fetch(url, { headers: { 'PAYMENT-SIGNATURE': header } })
  const { goods, transaction } = (await response.json()) as Record<string, unknown>
  return { status: response.status, goods, transaction }
}

/** A shop in this process, which remembers only for itself. */
function shopHere(config: Pick<ReferralConfig, 'serve'> & Partial<ReferralConfig>): ReferralEndpoint {
  const { databaseUrl: _database, price, merchantId, ...settings } = shopSettings(m)
  return createReferralEndpoint({
    ...settings,
    price: BigInt(price),
    merchantId: BigInt(merchantId),
    payments: createPaymentMemory(),
    ...config,
  })
}

const requestOf = (body: Body) =>
  new Request('https://shop.test/', { headers: { 'PAYMENT-SIGNATURE': headerOf(body) } })

async function payment(options?: PayloadOptions): Promise<{ buyer: LocalAccount; body: Body }> {
  const buyer = await m.newBuyer(3n * PRICE)
  return { buyer, body: await m.payload(buyer, options) }
}

/** One of them has the goods, the others do not, and the buyer has paid for it once. */
async function expectServedOnce(buyer: LocalAccount, answers: Purchase[]): Promise<void> {
  const [served, ...more] = answers.filter(({ status }) => status === 200)
  expect(more).toEqual([])
  expect(served).toMatchObject({
    goods: 'a good joke',
    transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  })
  for (const answer of answers)
    if (answer !== served) expect(answer).toMatchObject({ status: 409, goods: undefined })
  expect(await servedTo(m, buyer.address)).toBe(1)
  expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
  await books.audit()
}

describe('one payment buys the goods once', () => {
  it('when it is sent again and again', async () => {
    const { buyer, body } = await payment()
    const header = headerOf(body)
    const answers: Purchase[] = []
    for (const { url } of [shop, shop, sister, shop, sister]) {
      answers.push(await buy(`${url}/jokes`, header))
    }
    expect(answers[0]).toMatchObject({ status: 200 })
    await expectServedOnce(buyer, answers)
  })

  it('when it is sent fifty times at once', async () => {
    const { buyer, body } = await payment()
    const header = headerOf(body)
    await expectServedOnce(
      buyer,
      await Promise.all(Array.from({ length: 50 }, () => buy(`${shop.url}/jokes`, header))),
    )
    expect(await buy(`${shop.url}/jokes`, header)).toMatchObject({ status: 409 })
  })

  it('when it is sent fifty times at once to two processes that share their claims', async () => {
    for (let round = 0; round < 2; round += 1) {
      const { buyer, body } = await payment()
      const urls = [`${shop.url}/jokes`, `${sister.url}/jokes`]
      const copies = Array.from({ length: 50 }, (_, at) => buy(urls[at % 2] ?? '', headerOf(body)))
      await expectServedOnce(buyer, await Promise.all(copies))
    }
  })

  it('when it is sent fifty times at once to a process without shared claims', async () => {
    const { buyer, body } = await payment()
    let sales = 0
    const alone = shopHere({ serve: () => ({ sale: ++sales }) })
    const copies = Array.from({ length: 50 }, () => alone.fetch(requestOf(body)))
    const statuses = (await Promise.all(copies)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 200)).toHaveLength(1)
    expect(statuses.filter((status) => status === 409)).toHaveLength(49)
    expect((await alone.fetch(requestOf(body))).status).toBe(409)
    expect(sales).toBe(1)
    expect(await m.balanceOf(buyer.address)).toBe(2n * PRICE)
    await books.audit()
  })

  it('when it is sent to two endpoints of the shop', async () => {
    const { buyer, body } = await payment()
    const header = headerOf(body)
    const paths = ['/jokes', '/stories']
    const copies = Array.from({ length: 20 }, (_, at) => buy(`${shop.url}${paths[at % 2]}`, header))
    const answers = await Promise.all(copies)
    for (const path of paths) answers.push(await buy(`${sister.url}${path}`, header))
    await expectServedOnce(buyer, answers)
  })

  it('however it is spelled', async () => {
    const { buyer, body } = await payment()
    const { payload, ...rest } = body.paymentPayload
    const { signature, authorization } = payload
    const from = authorization.from.toLowerCase()
    const v = signature.endsWith('1b') ? '00' : '01'
    const headers = [
      headerOf(body),
      Buffer.from(JSON.stringify(body.paymentPayload, undefined, 2)).toString('base64'),
      base64({ payload: { authorization: { ...authorization, from }, signature }, ...rest }),
      base64({ ...rest, payload: { authorization, signature: `${signature.slice(0, -2)}${v}` } }),
      base64({ ...body.paymentPayload, resource: { url: 'https://elsewhere.test' } }),
    ]
    const urls = [`${shop.url}/jokes`, `${sister.url}/jokes`]
    const answers = await Promise.all(headers.flatMap((header) => urls.map((url) => buy(url, header))))
    for (const header of headers) answers.push(await buy(urls[0] ?? '', header))
    await expectServedOnce(buyer, answers)
  })

  it('when somebody else has submitted the transfer', async () => {
    const { buyer, body } = await payment()
    await act(m, submission(m, body))
    const urls = [`${shop.url}/jokes`, `${sister.url}/jokes`]
    const copies = Array.from({ length: 50 }, (_, at) => buy(urls[at % 2] ?? '', headerOf(body)))
    await expectServedOnce(buyer, await Promise.all(copies))
  })

  it('when the shop has been started again since', async () => {
    const { buyer, body } = await payment()
    const answers = [await buy(`${shop.url}/jokes`, headerOf(body))]
    await shop.kill()
    shop = await startShop(m)
    answers.push(await buy(`${shop.url}/jokes`, headerOf(body)))
    await expectServedOnce(buyer, answers)
  })
})

describe('nothing is served', () => {
  it('for a payment that is refused [REF-29]', async () => {
    const cheap = await payment({ amount: PRICE - 1n })
    const poor = await m.newBuyer(PRICE - 1n)
    const stolen = await payment({ from: cheap.buyer.address })
    for (const body of [cheap.body, stolen.body, await m.payload(poor)]) {
      const { status, goods } = await buy(`${shop.url}/jokes`, headerOf(body))
      expect({ status, goods }).toEqual({ status: expect.toBeOneOf([402, 503]), goods: undefined })
    }
    for (const { address } of [cheap.buyer, stolen.buyer, poor]) expect(await servedTo(m, address)).toBe(0)
    await books.audit()
  })

  it('by another merchant than the one whose product the link leads to', async () => {
    const { buyer, body } = await payment()
    let sales = 0
    const elsewhere = shopHere({
      merchantId: m.merchant.merchantId + 1n,
      serve: () => ({ sale: ++sales }),
    })
    expect((await elsewhere.fetch(requestOf(body))).status).toBe(402)
    expect(sales).toBe(0)
    expect(await m.balanceOf(buyer.address)).toBe(3n * PRICE)
    expect(await buy(`${shop.url}/jokes`, headerOf(body))).toMatchObject({ status: 200 })
    await books.audit()
  })
})
