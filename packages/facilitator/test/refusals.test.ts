// What is not settled, and why: `/settle` and `/verify` say the same, and nothing has happened.
import { mintUsdc, SANDBOX_TOKEN } from '@referrer/contracts/local'
import type { Address, Hex, LocalAccount } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { act, type Deed, openMerchant } from './abuse/acts.ts'
import { type Books, openBooks } from './abuse/books.ts'
import { type Expected, expectUnsettled } from './expect-unsettled.ts'
import { PRICE, startTestFacilitator, type TestFacilitator } from './harness.ts'
import { type Body, type PayloadOptions, payloadOf } from './payloads.ts'

const SALT: Hex = `0x${'5b'.repeat(32)}`
const elsewhere: Address = `0x${'11'.repeat(20)}`
const nobody = privateKeyToAccount(generatePrivateKey())

let m: TestFacilitator
let books: Books
let buyer: LocalAccount

beforeAll(async () => {
  m = await startTestFacilitator()
  books = await openBooks(m)
  buyer = m.market.accounts.buyer
  for (const { address } of [buyer, m.reviewer.account]) await mintUsdc(m.market, address, 1_000_000_000n)
})
afterAll(() => m?.close())
afterEach(() => {
  m.clock.aheadMs = 0
  return books.audit()
})

const expectRefused = (body: unknown, expected: Expected) =>
  expectUnsettled(m, body, { payer: buyer.address, ...expected })
const invalid = (errorMessage?: unknown): Expected => ({
  errorReason: 'invalid_payment',
  ...(errorMessage !== undefined && { errorMessage }),
})
const payment = (options?: PayloadOptions) => m.payload(buyer, options)
const extra = (change: object) => ({ requirements: { extra: { ...m.till.token, ...change } as never } })
/** It is not read as some agent, whose or whether there is one. */
const unreadableAgent = expect.stringContaining('extensions.buyerAgentId must be ')
/** With other extensions than those that the buyer was shown. */
async function withExtensions(extensions: unknown): Promise<unknown> {
  const { paymentPayload, ...rest } = await payment()
  return { ...rest, paymentPayload: { ...paymentPayload, extensions } }
}
const now = async () => (await m.chain.client.getBlock()).timestamp

describe('an invalid payment', () => {
  it('is a good answer to a good question: 200, with a reason and a message [FAC-09, FAC-10, FAC-11]', async () => {
    const body = await payment({ signer: nobody })
    const answer = await m.settle(body)
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/)
    expect(answer.body.success).toBe(false)
    expect(answer.body.errorReason).toBe('invalid_payment')
    expect(answer.body.errorMessage).toMatch(/\S/)
    await expectRefused(body, invalid())
  })

  it.each([undefined, null, '', 7, {}])('is one whose token is %j [FAC-20]', async (attributionToken) => {
    const body = await withExtensions({ attributionToken })
    expect(await expectRefused(body, invalid())).toContain('attribution')
  })

  it.each([undefined, null, [], 'x'])('is one whose extensions are %j [FAC-20]', async (extensions) => {
    await expectRefused(await withExtensions(extensions), invalid())
  })

  it('is one whose token only the seller sends [FAC-35]', async () => {
    const { attributionToken } = m.till
    const { paymentPayload, paymentRequirements, x402Version } = await payment(extra({ attributionToken }))
    await expectRefused(
      {
        x402Version,
        attributionToken,
        extensions: { attributionToken },
        paymentPayload: { ...paymentPayload, extensions: {}, attributionToken },
        paymentRequirements: { ...paymentRequirements, extensions: { attributionToken } },
      },
      invalid(expect.stringContaining('extensions.attributionToken is missing')),
    )
  })

  it('is one through a link of another chain [FAC-21]', async () => {
    const message = await expectRefused(
      await payment({ attributionToken: await m.mint({ chainId: 8_453 }) }),
      invalid(),
    )
    expect(message).toContain('for chain 8453')
  })

  it('is one through a link of another router', async () => {
    await expectRefused(
      await payment({ attributionToken: await m.mint({ splitRouter: elsewhere }) }),
      invalid(),
    )
  })

  it('is one through a link that was altered, or that somebody else signed [FAC-41]', async () => {
    const token = m.till.attributionToken
    const bytes = Buffer.from(token, 'base64url')
    const signed = bytes.subarray(0, -64).toString()
    const withTerms = (text: string) =>
      Buffer.concat([Buffer.from(text), bytes.subarray(-64)]).toString('base64url')
    const otherTerms = signed.replace('"cashbackOfCommissionBps":1000', '"cashbackOfCommissionBps":4000')
    expect(otherTerms).not.toBe(signed)
    const otherSignature = Buffer.from(bytes)
    otherSignature.writeUInt8(otherSignature.readUInt8(bytes.length - 40) ^ 1, bytes.length - 40)
    for (const attributionToken of [
      withTerms(otherTerms),
      withTerms(signed).slice(0, -2),
      otherSignature.toString('base64url'),
      await m.mint({}, 0xa2),
    ]) {
      await expectRefused(await payment({ attributionToken }), invalid())
    }
  })

  it.each([undefined, null, '', 'USDC', 2])('is one for a token named %j [FAC-22]', async (name) => {
    await expectRefused(await payment(extra({ name })), invalid(expect.stringContaining('name')))
  })

  it.each([undefined, null, '', '1', 2])('is one for a token of version %j [FAC-23]', async (version) => {
    await expectRefused(await payment(extra({ version })), invalid(expect.stringContaining('version')))
  })

  it('is one without extra', async () => {
    const body = await payment()
    await expectRefused(
      { ...body, paymentRequirements: { ...body.paymentRequirements, extra: undefined } },
      invalid(),
    )
  })

  it('is one that is authorised to somebody else than payTo [FAC-24, REF-34]', async () => {
    await expectRefused(await payment({ to: elsewhere }), invalid(expect.stringContaining('payTo')))
    await expectRefused(await payment({ to: elsewhere, requirements: { payTo: elsewhere } }), invalid())
    await expectRefused(await payment({ requirements: { payTo: elsewhere } }), invalid())
  })

  it.each([PRICE + 1n, PRICE - 1n, 0n])(
    'is one of %d where 1000000 are asked for [FAC-25]',
    async (value) => {
      await expectRefused(await payment({ value }), invalid(expect.stringContaining('exactly 1000000')))
    },
  )

  it('is one that has expired [FAC-26]', async () => {
    const time = await now()
    const expired = invalid(expect.stringContaining('expired'))
    await expectRefused(await payment({ validBefore: time }), expired)
    await expectRefused(await payment({ validBefore: 1n }), expired)
  })

  it('is one that has expired since the newest block, or is about to [FAC-26]', async () => {
    const validBefore = (await now()) + 100n
    const body = await payment({ validBefore })
    const at = (time: bigint) => {
      m.clock.aheadMs = Number(time) * 1_000 - Date.now()
    }
    for (const time of [validBefore + 1n, validBefore - 1n]) {
      at(time)
      await expectRefused(body, invalid(expect.stringContaining('expired')))
    }
    at(validBefore - 50n)
    expect((await m.settle(body)).body.success).toBe(true)
  })

  it('is one that is not valid yet [FAC-27]', async () => {
    const validAfter = (await now()) + 10_000n
    const body = await payment({ validAfter, validBefore: validAfter + 100n })
    await expectRefused(body, invalid(expect.stringContaining('not valid yet')))
  })

  it('is one that somebody else signed [FAC-28]', async () => {
    await expectRefused(await payment({ signer: nobody }), invalid(expect.stringContaining('signature')))
    const body = await payment()
    const { authorization, signature } = body.paymentPayload.payload
    const from = m.reviewer.account.address
    const stolen = { signature, authorization: { ...authorization, from } }
    const stolenBody = { ...body, paymentPayload: { ...body.paymentPayload, payload: stolen } }
    await expectRefused(stolenBody, { ...invalid(), payer: from })
    const otherToken = { ...m.till, token: { ...SANDBOX_TOKEN, version: '1' } }
    await expectRefused(await payloadOf(otherToken, buyer, Number(await now()), extra({})), invalid())
  })

  it.each([7, 0, true, {}, ['7']])(
    'is one whose buying agent is %j and not text [FAC-33]',
    async (buyerAgentId) => {
      await expectRefused(await payment({ buyerAgentId }), invalid(unreadableAgent))
    },
  )

  it('is one whose buying agent is a number, although it is the buyer’s own [FAC-33]', async () => {
    const buyerAgentId = Number(await m.newAgent(buyer))
    await expectRefused(await payment({ buyerAgentId }), invalid(unreadableAgent))
  })

  it.each(['abc', '-1', '0x1', '1.0', '1e3', ' 1', '+1', '9007199254740992'])(
    'is one whose buying agent is %j [FAC-34]',
    async (buyerAgentId) => {
      await expectRefused(await payment({ buyerAgentId }), invalid(unreadableAgent))
    },
  )

  it('is one for an agent that is not the buyer’s, or that there is not', async () => {
    const other = String(m.merchant.merchantId)
    for (const buyerAgentId of [other, '123456']) {
      await expectRefused(
        await payment({ buyerAgentId }),
        invalid(expect.stringContaining(`buyerAgentId ${buyerAgentId}`)),
      )
    }
  })

  it.each([
    ['network', 'eip155:1'],
    ['network', 'base'],
    ['asset', elsewhere],
    ['scheme', 'upto'],
    ['amount', '0'],
    ['amount', '1000000.0'],
    ['amount', '9007199254740993'],
  ])('is one whose %s is %s', async (field, value) => {
    const body = await payment({ requirements: { [field]: value } })
    const answer = await m.settle(body)
    expect([answer.status, answer.body]).toMatchObject([
      200,
      { success: false, errorReason: 'invalid_payment' },
    ])
    expect((await m.verify(body)).body).toMatchObject({ isValid: false, invalidReason: 'invalid_payment' })
  })

  it.each([
    ['payTo', elsewhere],
    ['amount', '1'],
    ['asset', elsewhere],
    ['network', 'eip155:1'],
  ] as const)('is one whose buyer accepted another %s', async (field, value) => {
    const body = await payment()
    const accepted = { ...body.paymentRequirements, [field]: value } as Body['paymentRequirements']
    await expectRefused(
      { ...body, paymentPayload: { ...body.paymentPayload, accepted } },
      invalid(expect.stringContaining(`accepted ${field}`)),
    )
  })

  it('is one that only the router can redeem and that does not commit to its link', async () => {
    await expectRefused(
      await payment({ type: 'ReceiveWithAuthorization' }),
      invalid(expect.stringContaining('attributionSalt')),
    )
    for (const type of ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const) {
      const body = await payment({ type, extensions: { attributionSalt: SALT } })
      await expectRefused(body, invalid(expect.stringContaining('does not commit')))
    }
  })
})

it('a purchase through a link of one’s own is a self-referral [FAC-36]', async () => {
  const { account } = m.reviewer
  await expectRefused(await m.payload(account), { errorReason: 'self_referral', payer: account.address })
})

describe('a settlement that cannot be', () => {
  const impossible = (errorMessage: string): Expected => ({
    errorReason: 'settle_failed',
    errorMessage,
    retryable: true,
  })

  const productIs = (isActive: boolean): Deed => ({
    by: m.merchant.account,
    on: 'MerchantRegistry',
    call: ['setProductActive', m.merchant.merchantId, m.merchant.productId, isActive],
  })
  const suspension = (isSuspended: boolean): Deed => ({
    by: m.market.accounts.guardian,
    on: 'MerchantRegistry',
    call: ['setSuspended', m.merchant.merchantId, isSuspended],
  })

  it.each([
    [
      'the merchant is not active [FAC-39]',
      'the merchant is not active',
      (is: boolean) => openMerchant(m, is),
    ],
    ['the merchant is suspended [FAC-39]', 'the merchant is not active', (is: boolean) => suspension(!is)],
    ['the product is not active [FAC-40]', 'the product is not active', productIs],
  ])('because %s costs nothing, and can be tried again', async (_, message, set) => {
    const body = await payment()
    await act(m, set(false))
    try {
      await expectRefused(body, impossible(message))
    } finally {
      await act(m, set(true))
    }
    expect((await m.settle(body)).body.success).toBe(true)
  })

  it('because the payer has too little costs nothing, and can be tried again', async () => {
    const poor = await m.newBuyer(PRICE - 1n)
    const body = await m.payload(poor)
    const message = `the payer ${poor.address} has 999999 of the 1000000 base units that it would pay`
    await expectRefused(body, { ...impossible(message), payer: poor.address })
    await mintUsdc(m.market, poor.address, 1n)
    expect((await m.settle(body)).body.success).toBe(true)
  })
})

it('a refusal has one of three reasons [FAC-12]', async () => {
  const poor = await m.newBuyer(0n)
  const bodies = [await payment({ value: 1n }), await m.payload(m.reviewer.account), await m.payload(poor)]
  const reasons = []
  for (const body of bodies) reasons.push((await m.settle(body)).body.errorReason)
  expect(reasons).toEqual(['invalid_payment', 'self_referral', 'settle_failed'])
})
