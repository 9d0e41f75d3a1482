import { listProduct, mintUsdc, openMerchant } from '@referrer/contracts/local'
import { type Address, type Hash, type Hex, type LocalAccount, maxUint256, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { startTestFacilitator, type TestFacilitator } from './harness.ts'
import type { Body, PayloadOptions } from './payloads.ts'
import { sharesOf } from './shares.ts'

/** No share of it is a round number. */
const ODD_PRICE = 1_234_567n
const SALT: Hex = `0x${'5a'.repeat(32)}`
const SETUP_URL = 'https://market.test/.well-known/referrer-agent'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = m.market.accounts.buyer
  await mintUsdc(m.market, buyer.address, 1_000_000_000n)
})
afterAll(() => m?.close())
afterEach(() => {
  m.clock.aheadMs = 0
  return books.audit()
})

async function settled(body: Body): Promise<{ transaction: Hash; network: string; payer: Address }> {
  const answer = await m.settle(body)
  expect(answer, answer.text).toMatchObject({ status: 200, body: { success: true } })
  return answer.body
}

/** The one escrow of a payment that was settled alone. */
async function purchaseOf(options: PayloadOptions, payer: LocalAccount = buyer) {
  const body = await m.payload(payer, options)
  const escrows = await m.escrowsIn((await settled(body)).transaction)
  expect(escrows).toHaveLength(1)
  const [escrow] = escrows
  if (!escrow) throw new Error('no escrow')
  const { from, nonce } = body.paymentPayload.payload.authorization
  expect(escrow).toMatchObject({ payer: from, nonce })
  return escrow
}

describe('a payment', () => {
  it('is settled without being verified before, and everybody gets their share on-chain [FAC-03, REF-39]', async () => {
    const people = {
      payer: buyer.address,
      merchant: m.merchant.account.address,
      reviewer: m.reviewer.account.address,
      escrow: m.market.addresses.CommissionEscrow,
      router: m.till.router,
    }
    const money = async () =>
      Object.fromEntries(
        await Promise.all(
          Object.entries(people).map(async ([name, address]) => [name, await m.balanceOf(address)] as const),
        ),
      )
    const before = await money()
    const body = await m.payload(buyer, { amount: ODD_PRICE })
    const { transaction } = await settled(body)
    const after = await money()
    const { merchant, commission, fee, cashback, heldBack, immediate } = sharesOf(ODD_PRICE, {
      commissionBps: 2_000n,
    })
    const gains = Object.keys(people).map((name) => [name, (after[name] ?? 0n) - (before[name] ?? 0n)])
    expect(Object.fromEntries(gains)).toEqual({
      payer: -ODD_PRICE,
      merchant,
      reviewer: immediate,
      escrow: heldBack + cashback + fee,
      router: 0n,
    })
    expect(await m.escrowsIn(transaction)).toMatchObject([
      {
        payer: buyer.address,
        merchantId: m.merchant.merchantId,
        productId: m.merchant.productId,
        reviewId: m.reviewer.reviewId,
        reviewerAgentId: m.reviewer.agentId,
        price: ODD_PRICE,
        commission,
        fee,
        cashback,
        heldBack,
      },
    ])
  })

  it('is answered with the transaction that split it, its network and its payer [FAC-13, FAC-14, FAC-15, FAC-16, FAC-17, FAC-18, FAC-19]', async () => {
    const body = await m.payload(buyer)
    const { from, nonce } = body.paymentPayload.payload.authorization
    const answer = await m.settle(body)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    const { transaction } = answer.body
    expect(answer.body).toEqual({
      success: true,
      transaction: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      network: `eip155:${m.chainId}`,
      payer: from,
    })
    const receipt = await m.chain.client.getTransactionReceipt({ hash: transaction })
    expect(receipt.status).toBe('success')
    expect(await m.escrowsIn(transaction)).toMatchObject([{ payer: from, nonce }])
  })

  it.each([
    ['absent [FAC-29]', {}],
    ['null [FAC-30]', { buyerAgentId: null }],
    ['empty [FAC-31]', { buyerAgentId: '' }],
  ])('is nobody’s but the wallet’s where the buying agent is %s', async (_, options) => {
    expect((await purchaseOf(options)).buyerAgentId).toBe(maxUint256)
  })

  it('belongs to the agent that it names, agent 0 too [FAC-32]', async () => {
    const { stranger } = m.market.accounts
    await mintUsdc(m.market, stranger.address, 10_000_000n)
    expect((await purchaseOf({ buyerAgentId: '0' }, stranger)).buyerAgentId).toBe(0n)
    const agentId = await m.newAgent(buyer)
    expect((await purchaseOf({ buyerAgentId: String(agentId) })).buyerAgentId).toBe(agentId)
  })

  it.each([
    ['a bare transfer', {}],
    ['a transfer whose nonce commits to the link', { salt: SALT, type: 'TransferWithAuthorization' }],
    ['one that only the router can redeem', { salt: numberToHex(7, { size: 32 }) }],
  ] satisfies [string, PayloadOptions][])('may be %s', async (_, options) => {
    expect((await purchaseOf(options)).reviewerAgentId).toBe(m.reviewer.agentId)
  })

  it('may be signed with 0 or 1 as v, which the token itself would refuse', async () => {
    const body = await m.payload(buyer)
    const { payload } = body.paymentPayload
    const v = Number.parseInt(payload.signature.slice(-2), 16) - 27
    payload.signature = `${payload.signature.slice(0, -2) as Hex}0${v}`
    await settled(body)
  })

  it('may leave out what the envelope says already', async () => {
    const { paymentPayload, ...rest } = await m.payload(buyer)
    const { accepted: _accepted, x402Version: _version, ...plain } = paymentPayload
    await settled({ ...rest, paymentPayload: plain })
  })

  it('is settled when it has become valid since the newest block', async () => {
    const { timestamp } = await m.chain.client.getBlock()
    const body = await m.payload(buyer, { validAfter: timestamp + 50n, validBefore: timestamp + 500n })
    // The chain of a block per transaction is ahead of the clock: both go far beyond that.
    await m.chain.client.increaseTime({ seconds: 300 })
    m.clock.aheadMs = 300_000
    await settled(body)
  })
})

describe('the product that is sold', () => {
  const cheap = numberToHex(0xc1, { size: 32 })
  const foreign = numberToHex(0xc2, { size: 32 })

  beforeAll(async () => {
    const { account, merchantId } = m.merchant
    await listProduct(m.market, account, { merchantId, productId: cheap }, { commissionBps: 500 })
    const { stranger } = m.market.accounts
    const otherMerchant = await openMerchant(m.market, stranger)
    await listProduct(m.market, stranger, { merchantId: otherMerchant, productId: foreign })
  })

  const selling = (productId: Hex) =>
    m.payload(buyer, {
      amount: ODD_PRICE,
      requirements: { extra: { ...m.till.token, productId } },
    })

  it('may be another one of the same merchant, at its own rate', async () => {
    const [escrow] = await m.escrowsIn((await settled(await selling(cheap))).transaction)
    const { commission, heldBack } = sharesOf(ODD_PRICE, { commissionBps: 500n })
    expect(escrow).toMatchObject({ productId: cheap, reviewId: m.reviewer.reviewId, commission, heldBack })
  })

  it.each([
    ['of another merchant', foreign],
    ['that nobody lists', numberToHex(0xc3, { size: 32 })],
  ])('may not be one %s', async (_, productId) => {
    const body = await selling(productId)
    expect((await m.settle(body)).body).toMatchObject({ success: false, errorReason: 'settle_failed' })
    expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'settle_failed' })
  })

  it('is told by the seller: what the buyer echoes does not count', async () => {
    const body = await m.payload(buyer)
    const { accepted } = body.paymentPayload
    if (accepted) body.paymentPayload.accepted = { ...accepted, extra: { ...m.till.token, productId: cheap } }
    const [escrow] = await m.escrowsIn((await settled(body)).transaction)
    expect(escrow?.productId).toBe(m.merchant.productId)
  })
})

describe('a copy of a settled payment', () => {
  let body: Body
  let transaction: Hash
  beforeAll(async () => {
    body = await m.payload(buyer)
    transaction = (await settled(body)).transaction
  })

  const used = () => ({
    success: false,
    errorReason: 'invalid_payment',
    errorMessage: 'authorization already used',
    transaction,
    network: `eip155:${m.chainId}`,
    payer: buyer.address,
    setup_url: SETUP_URL,
  })

  it('pays nothing and is refused with the original transaction [FAC-42 otherwise]', async () => {
    const before = await m.balanceOf(buyer.address)
    const again = await m.settle(body)
    expect([again.status, again.body]).toEqual([200, used()])
    expect((await m.verify(body)).body).toEqual({
      isValid: false,
      invalidReason: 'invalid_payment',
      invalidMessage: 'authorization already used',
      payer: buyer.address,
    })
    expect(await m.balanceOf(buyer.address)).toBe(before)
  })

  it('is refused so when it is spelled otherwise, or names another link or buyer', async () => {
    const { signature, authorization } = body.paymentPayload.payload
    const lower = authorization.from.toLowerCase() as Address
    const nonce = `0x${authorization.nonce.slice(2).toUpperCase()}` as Hex
    const v = Number.parseInt(signature.slice(-2), 16) - 27
    const spelled = { signature: `${signature.slice(0, -2)}0${v}` as Hex, authorization }
    const payloads = [
      { ...body.paymentPayload, payload: { signature, authorization: { ...authorization, from: lower } } },
      { ...body.paymentPayload, payload: { signature, authorization: { ...authorization, nonce } } },
      { ...body.paymentPayload, payload: spelled },
      { ...body.paymentPayload, extensions: { attributionToken: await m.mint({ issuedAt: 1_750_000_001 }) } },
    ]
    for (const paymentPayload of payloads) {
      expect((await m.settle({ ...body, paymentPayload })).body).toEqual(used())
    }
    // For another buyer it would be another purchase, which the transaction did not pay for.
    const extensions = { ...body.paymentPayload.extensions, buyerAgentId: String(await m.newAgent(buyer)) }
    const paymentPayload = { ...body.paymentPayload, extensions }
    expect((await m.settle({ ...body, paymentPayload })).body).toEqual({ ...used(), transaction: '' })
  })

  it('is refused so after a restart', async () => {
    await m.restart()
    expect((await m.settle(body)).body).toEqual(used())
  })

  it('is refused so when the authorisation has expired since', async () => {
    await m.chain.client.increaseTime({ seconds: 4_000 })
    await m.chain.client.mine({ blocks: 1 })
    expect((await m.settle(body)).body).toEqual(used())
  })
})
