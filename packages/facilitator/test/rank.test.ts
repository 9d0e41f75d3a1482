// The reviewer's rank at the time of the purchase decides the commission, not the rank at the time of the link.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { listProduct } from '@referrer/contracts/local'
import { RequestSignature } from '@referrer/protocol'
import { type Hex, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { eventually } from './eventually.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { PayloadOptions } from './payloads.ts'
import { sharesOf } from './shares.ts'

interface Rank {
  repeat: { commission_multiplier_bps: unknown }
  one_off: { commission_multiplier_bps: unknown }
}

const COMMISSION_BPS = 2_000n
/** Of the link. */
const LINK = 10_000n
const ranks = (repeat: unknown, oneOff: unknown): Rank => ({
  repeat: { commission_multiplier_bps: repeat },
  one_off: { commission_multiplier_bps: oneOff },
})

let m: TestFacilitator
let books: Books
let marketplace: Server
/** What the marketplace answers: text is sent with status 500, undefined is silence. */
let answer: Rank | string | undefined
const asked: IncomingMessage[] = []

beforeAll(async () => {
  marketplace = createServer((request, response) => {
    asked.push(request)
    if (answer === undefined) return
    const isText = typeof answer === 'string'
    response.writeHead(isText ? 500 : 200, { 'content-type': 'application/json' })
    response.end(isText ? answer : JSON.stringify(answer))
  }).listen(0, '127.0.0.1')
  await once(marketplace, 'listening')
  const { port } = marketplace.address() as AddressInfo
  m = await startTestFacilitator({ env: { MARKET_URL: `http://127.0.0.1:${port}` } })
  books = await openBooks(m)
})
afterAll(async () => {
  await m?.close()
  marketplace.closeAllConnections()
  marketplace.close()
})
beforeEach(() => {
  asked.length = 0
  // Whatever was known about the reviewer is forgotten by then.
  m.clock.aheadMs += 31_000
})
afterEach(() => books.audit())

/** The commission of a purchase, as the escrow has it. */
async function commissionOf(options?: PayloadOptions): Promise<bigint | undefined> {
  const [buyer] = m.buyers
  if (!buyer) throw new Error('nobody buys')
  const body = await m.payload(buyer, options)
  const settled = await m.settle(body)
  expect(settled.body, settled.text).toMatchObject({ success: true })
  const [escrow] = await m.escrowsIn(settled.body.transaction)
  return escrow?.commission
}

const commission = (multiplierBps: bigint) =>
  sharesOf(PRICE, { commissionBps: COMMISSION_BPS, multiplierBps }).commission

/** A payment does not wait for a slow answer, on a busy machine neither: then one of the next ones has it. */
const soon = (options?: PayloadOptions) =>
  eventually(() => {
    m.clock.aheadMs += 6_000
    return commissionOf(options)
  })

describe('the commission', () => {
  it('is that of the rank in force when the purchase settles, whatever it was when the link was made [RANK-33]', async () => {
    answer = ranks(7_000, 4_000)
    await soon().toBe(commission(7_000n))
    answer = ranks(4_000, 7_000)
    m.clock.aheadMs += 31_000
    await soon().toBe(commission(4_000n))
  })

  it('is asked for in the name of a relayer, by reviewer and chain', async () => {
    answer = ranks(7_000, 4_000)
    await commissionOf()
    await eventually(() => asked.length).toBe(1)
    const [request] = asked
    expect(request?.url).toBe(`/v1/review-rank/${m.reviewer.agentId}?chain_id=${m.chainId}`)
    const signed = RequestSignature.parse({ get: (name) => String(request?.headers[name.toLowerCase()]) })
    expect(await RequestSignature.recover({ ...signed, body: new Uint8Array() })).toBe(m.relayers[0].address)
  })

  it('follows the rank for things sold once where the product is one', async () => {
    const productId: Hex = numberToHex(0xd1, { size: 32 })
    const { account, merchantId } = m.merchant
    const product = { merchantId, productId }
    await listProduct(m.market, account, product, { commissionBps: Number(COMMISSION_BPS), oneOff: true })
    answer = ranks(7_000, 5_500)
    await soon({ attributionToken: await m.mint({ productId }) }).toBe(commission(5_500n))
  })

  it('may change after the buyer has committed to a link', async () => {
    answer = ranks(6_000, 4_000)
    let salt = 0
    await eventually(() => {
      salt += 1
      return commissionOf({ salt: numberToHex(salt, { size: 32 }) })
    }).toBe(commission(6_000n))
  })

  it.each([
    ['fails', 'out of order'],
    ['is silent', undefined],
    ['tells less than the least', ranks(3_999, 3_999)],
    ['tells more than the most', ranks(10_001, 10_001)],
    ['tells nonsense', ranks('7000', null)],
  ])('is that of the link when the marketplace %s, and the payment is settled', async (_, told) => {
    answer = told
    expect(await commissionOf()).toBe(commission(LINK))
    await eventually(() => asked.length).toBeGreaterThan(0)
    answer = ranks(7_000, 4_000)
    marketplace.closeAllConnections()
    await soon().toBe(commission(7_000n))
  })
})
