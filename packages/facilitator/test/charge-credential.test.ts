import { listProduct } from '@referrer/contracts/local'
import { Mpp } from '@referrer/protocol'
import { type LocalAccount, numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { type Books, openBooks } from './abuse/books.ts'
import { send } from './asking.ts'
import { type CredentialOptions, credentialBody } from './credentials.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'

let m: TestFacilitator
let books: Books
let buyer: LocalAccount
let agentId: bigint
beforeAll(async () => {
  m = await startTestFacilitator({ buyers: 0 })
  buyer = await m.newBuyer()
  agentId = await m.newAgent(m.market.accounts.buyer)
  books = await openBooks(m)
})
afterAll(() => m?.close())
afterEach(() => books.audit())

const charge = (body: unknown, as?: LocalAccount) =>
  m.call('POST', '/mpp/charge', { body, ...(as && { as }) })
const bodyOf = (options?: CredentialOptions) => credentialBody(m, buyer, options)
const OTHER = '0x000000000000000000000000000000000000dEaD'

async function expectRefused(body: unknown, message: string) {
  const before = await m.balanceOf(buyer.address)
  const answer = await charge(body)
  expect([answer.status, answer.body.success, answer.body.errorReason]).toEqual([
    200,
    false,
    'invalid_payment',
  ])
  expect(answer.body.errorMessage).toContain(message)
  expect(await m.balanceOf(buyer.address)).toBe(before)
  return answer.body
}

describe('the credential of an MPP client', () => {
  test('is split and escrowed as any payment', async () => {
    const answer = await charge(await bodyOf())
    expect(answer.body).toMatchObject({ success: true, network: `eip155:${m.chainId}`, payer: buyer.address })
    const [escrow] = await m.escrowsIn(answer.body.transaction)
    expect(escrow).toMatchObject({
      payer: buyer.address,
      price: PRICE,
      merchantId: m.merchant.merchantId,
      productId: m.merchant.productId,
      reviewId: m.reviewer.reviewId,
      reviewerAgentId: m.reviewer.agentId,
    })
  })

  test('is settled once, however often and wherever it is sent', async () => {
    const body = await bodyOf()
    const [one, copy] = await Promise.all([charge(body), charge(body)])
    expect(one.body).toMatchObject({ success: true })
    expect(copy.body).toEqual(one.body)
    const { transaction } = one.body
    const used = { success: false, errorMessage: 'authorization already used', transaction }
    expect((await charge(body)).body).toMatchObject({ ...used, payer: buyer.address })
    const { authorization, signature } = Mpp.parseCredential(body.credential)
    const { paymentRequirements } = await m.payload(buyer)
    const paymentPayload = {
      payload: { authorization, signature },
      extensions: { attributionToken: body.attributionToken },
    }
    expect((await m.settle({ x402Version: 2, paymentPayload, paymentRequirements })).body).toMatchObject(used)
    const { from, nonce } = authorization
    expect((await m.call('GET', `/settlements/${from}/${nonce}`)).body).toMatchObject({
      status: 'settled',
      transaction,
    })
  })

  test('buys what the merchant says that it sells', async () => {
    const productId = numberToHex(0xb1, { size: 32 })
    const { merchantId } = m.merchant
    await listProduct(m.market, m.merchant.account, { merchantId, productId }, { commissionBps: 2_000 })
    const answer = await charge({ ...(await bodyOf()), amount: String(PRICE), productId })
    const [escrow] = await m.escrowsIn(answer.body.transaction)
    expect(escrow).toMatchObject({ productId })
  })

  test.each([
    ['another price than the merchant’s', {}, { amount: '1000001' }, 'authorise exactly 1000001'],
    ['another recipient', { to: OTHER, charge: { recipient: OTHER } }, {}, 'is not the split router'],
    ['another currency', { charge: { currency: OTHER } }, {}, 'is not split on'],
    ['another value than its challenge', { value: 1n }, {}, 'payload.value must be'],
    [
      'another chain in its challenge',
      { charge: { methodDetails: { chainId: 1 } } },
      {},
      'the challenge is for chain 1',
    ],
    ['splits', { charge: { methodDetails: { chainId: 1, splits: [] } } }, {}, 'splits must be left out'],
    ['a nonce by chance', { nonce: numberToHex(7, { size: 32 }) }, {}, 'payload.nonce must be'],
    ['a transaction hash', { payload: { type: 'hash' } }, {}, 'payload.type must be "authorization"'],
    ['a buyer that the payer is not', { buyerAgentId: '0' }, {}, 'buyer'],
    ['no link', {}, { attributionToken: '' }, 'attributionToken must be'],
    ['a chain that is not ours', {}, { chainId: 1 }, 'chain 1 is not settled here'],
    ['an amount that is none', {}, { amount: 1 }, 'amount must be'],
    ['a product that is none', {}, { productId: '0x12' }, 'productId must be'],
    ['no text', {}, { credential: {} }, 'credential must be'],
  ] as [string, CredentialOptions, object, string][])(
    'is refused with %s',
    async (_, options, change, message) => {
      await expectRefused({ ...(await bodyOf(options)), ...change }, message)
    },
  )

  test('of an agent is settled for its wallet only', async () => {
    const refused = await expectRefused(await bodyOf({ buyerAgentId: String(agentId) }), 'buyer')
    expect(refused.payer).toBe(buyer.address)
  })

  test('does not keep a transfer from being charged', async () => {
    const body = { ...(await bodyOf()), txHash: numberToHex(1, { size: 32 }) }
    await expectRefused(body, 'buyerSignature must be')
  })

  test('whose link was forged is refused', async () => {
    await expectRefused({ ...(await bodyOf()), attributionToken: await m.mint({}, 0xbad) }, '')
  })
})

describe('where merchants must sign', () => {
  test('a credential needs the signature of who may settle, and a transfer does not', async () => {
    const strict = await m.startAnother({ SETTLEMENT_AUTH: 'required' })
    try {
      const body = await bodyOf()
      const ask = (as?: LocalAccount) => send(strict.url, 'POST', '/mpp/charge', { body, ...(as && { as }) })
      expect(await ask()).toMatchObject({ status: 401, body: { detail: 'signature required' } })
      expect((await ask(buyer)).status).toBe(403)
      expect((await ask(m.merchant.account)).body).toMatchObject({ success: true })
      const transfer = await send(strict.url, 'POST', '/mpp/charge', { body: {} })
      expect(transfer).toMatchObject({ status: 200, body: { errorReason: 'invalid_payment' } })
    } finally {
      await strict.stop()
    }
  })

  test('a wrong signature is refused even where none is needed', async () => {
    expect((await charge(await bodyOf(), buyer)).status).toBe(403)
  })
})
