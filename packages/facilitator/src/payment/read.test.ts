import { Attribution, ProtocolError } from '@referrer/protocol'
import { type Hex, zeroHash } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, describe, expect, test } from 'vitest'
import { NOW, type PaperContext, paperContext } from '../../test/context.ts'
import { type Body, type PayloadOptions, payloadOf } from '../../test/payloads.ts'
import { readPayment } from './read.ts'
import { Refused } from './refused.ts'

const KEY = '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'
const buyer = privateKeyToAccount(KEY)
const NONCE: Hex = `0x${'55'.repeat(32)}`
const SALT: Hex = `0x${'66'.repeat(32)}`
const OTHER = '0x000000000000000000000000000000000000dEaD'

let paper: PaperContext
beforeAll(async () => {
  paper = await paperContext()
})

const payload = (options?: PayloadOptions): Promise<Body> => payloadOf(paper.till, buyer, NOW, options)
const read = (body: unknown) => readPayment(paper.context, body)

/** The reason and the message of a refusal. */
async function refusal(body: unknown): Promise<string> {
  const error = await read(body).then(
    () => new Error('it was accepted'),
    (error: unknown) => error,
  )
  if (!(error instanceof Refused)) throw error
  return `${error.reason}: ${error.message}`
}

describe('a payment of a stock client', () => {
  test('is read as the router takes it', async () => {
    const body = await payload({ nonce: NONCE, buyerAgentId: '0' })
    expect(await read(body)).toEqual({
      chainId: 84_532,
      network: 'eip155:84532',
      authorization: {
        kind: 1,
        from: buyer.address,
        value: 1_000_000n,
        validAfter: 0n,
        validBefore: BigInt(NOW + 3_600),
        nonce: NONCE,
        signature: body.paymentPayload.payload.signature,
      },
      attribution: {
        merchantId: 3n,
        productId: paper.till.terms.productId,
        reviewId: 11n,
        reviewerAgentId: 5n,
        buyerAgentId: 0n,
        cashbackOfCommissionBps: 2_500,
        commissionMultiplierBps: 7_000,
        salt: zeroHash,
      },
      isCommitted: false,
      isVerified: true,
      digest: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    })
  })

  test.each([undefined, null, ''])('without an agent (%j) is agent-less', async (buyerAgentId) => {
    const { attribution } = await read(await payload({ buyerAgentId }))
    expect(attribution.buyerAgentId).toBe(Attribution.AGENTLESS_BUYER_ID)
  })

  test('may leave out what the envelope tells too', async () => {
    const body = await payload()
    const { accepted: _accepted, x402Version: _version, ...plain } = body.paymentPayload
    expect((await read({ ...body, paymentPayload: plain })).authorization.from).toBe(buyer.address)
  })

  test('may tell of the offer only what was agreed on', async () => {
    const body = await payload()
    const { extra: _extra, maxTimeoutSeconds: _timeout, ...accepted } = body.paymentRequirements
    const { attribution } = await read({ ...body, paymentPayload: { ...body.paymentPayload, accepted } })
    expect(attribution).toMatchObject({ merchantId: 3n, reviewId: 11n })
  })

  test('may be for another product of the same merchant', async () => {
    const productId: Hex = `0x${'99'.repeat(32)}`
    const extra = { ...paper.till.token, productId }
    const { attribution } = await read(await payload({ requirements: { extra } }))
    expect(attribution).toMatchObject({ productId, merchantId: 3n, reviewId: 11n })
  })

  test('is for the product that the seller names, whatever the buyer echoes', async () => {
    const body = await payload()
    const accepted = {
      ...body.paymentRequirements,
      extra: { ...body.paymentRequirements.extra, productId: NONCE },
    }
    const { attribution } = await read({ ...body, paymentPayload: { ...body.paymentPayload, accepted } })
    expect(attribution.productId).toBe(paper.till.terms.productId)
  })
})

test('when a payment holds is left to the chain: it may have been made in time', async () => {
  const past = { validBefore: BigInt(NOW) }
  const future = { validAfter: BigInt(NOW + 10_000), validBefore: BigInt(NOW + 20_000) }
  for (const when of [past, future]) {
    expect((await read(await payload(when))).authorization).toMatchObject(when)
  }
})

describe('a committed payment', () => {
  test('is read with its salt, as one that only the router can redeem', async () => {
    const { authorization, attribution } = await read(await payload({ salt: SALT, buyerAgentId: '7' }))
    expect(authorization.kind).toBe(0)
    expect(attribution).toMatchObject({ salt: SALT, buyerAgentId: 7n })
    expect(authorization.nonce).toBe(Attribution.attributionNonce(attribution))
  })

  test('may be a bare transfer too', async () => {
    const body = await payload({ salt: SALT, type: 'TransferWithAuthorization' })
    expect((await read(body)).authorization.kind).toBe(1)
  })

  test('keeps its link: with the token of another reviewer it is refused', async () => {
    for (const type of ['ReceiveWithAuthorization', 'TransferWithAuthorization'] as const) {
      const body = await payload({ salt: SALT, type })
      body.paymentPayload.extensions.attributionToken = await paper.mint({ reviewerAgentId: 6 })
      expect(await refusal(body)).toMatch(/^invalid_payment: authorization.nonce does not commit/)
    }
  })

  test('keeps its buyer', async () => {
    const body = await payload({ salt: SALT, buyerAgentId: '7' })
    body.paymentPayload.extensions.buyerAgentId = '8'
    expect(await refusal(body)).toMatch(/^invalid_payment: authorization.nonce does not commit/)
  })

  test('that only the router can redeem needs a salt', async () => {
    const body = await payload({ type: 'ReceiveWithAuthorization' })
    expect(await refusal(body)).toMatch(/^invalid_payment: ReceiveWithAuthorization needs extensions.attrib/)
  })
})

describe('the digest', () => {
  const digestOf = async (options: PayloadOptions) =>
    (await read(await payload({ nonce: NONCE, ...options }))).digest

  test('is the same for copies, however they are signed and whatever the multiplier is', async () => {
    const body = await payload({ nonce: NONCE })
    const { digest } = await read(body)
    const { signature } = body.paymentPayload.payload
    const v = signature.endsWith('1b') ? '00' : '01'
    body.paymentPayload.payload.signature = `${signature.slice(0, -2) as Hex}${v}`
    expect((await read(body)).digest).toBe(digest)
    const raised = await paper.mint({ commissionMultiplierBps: 9_000, issuedAt: NOW })
    expect(await digestOf({ attributionToken: raised })).toBe(digest)
  })

  test('differs with everything else that is settled', async () => {
    const digests = await Promise.all([
      digestOf({}),
      digestOf({ amount: 20_000n }),
      digestOf({ nonce: SALT }),
      digestOf({ validAfter: 1n }),
      digestOf({ validBefore: BigInt(NOW + 1) }),
      digestOf({ buyerAgentId: '0' }),
      digestOf({ attributionToken: await paper.mint({ reviewId: 12 }) }),
      digestOf({ attributionToken: await paper.mint({ reviewerAgentId: 6 }) }),
      digestOf({ attributionToken: await paper.mint({ merchantId: 4 }) }),
      digestOf({ attributionToken: await paper.mint({ cashbackOfCommissionBps: 0 }) }),
      digestOf({ requirements: { extra: { ...paper.till.token, productId: SALT } } }),
    ])
    expect(new Set(digests).size).toBe(digests.length)
  })

  test('is pinned: settlements of a version before must be found again', async () => {
    expect(await digestOf({})).toMatchInlineSnapshot(
      `"0xa6e599adc44a8915f2449e68b66997927231b348d358168977cc624dd43456d8"`,
    )
  })
})

describe('an envelope', () => {
  test.each([{}, [], { x402Version: 1 }, { x402Version: 3 }, { x402Version: '2' }])(
    '%j is no payment at all',
    async (body) => {
      const error = await read(body).catch((error: unknown) => error)
      expect(error).toBeInstanceOf(ProtocolError)
      expect(error).toMatchObject({
        code: 'invalid_envelope',
        message: expect.stringContaining('x402Version 2'),
      })
    },
  )

  test('without a payment or requirements is a payment that cannot be read', async () => {
    const body = await payload()
    expect(await refusal({ x402Version: 2 })).toMatch(/^invalid_payment: payment payload must be/)
    expect(await refusal({ ...body, paymentRequirements: undefined })).toMatch(/requirements must be/)
  })
})

describe('an offer is refused', () => {
  const offered = async (requirements: object) => refusal(await payload({ requirements }))

  test('on a network that is not ours', async () => {
    expect(await offered({ network: 'eip155:1' })).toBe(
      'invalid_payment: network eip155:1 is not settled here: pay on eip155:84532',
    )
    expect(await offered({ network: 'base' })).toMatch(/^invalid_payment: network must be eip155:/)
  })

  test('in another asset than USDC, or to another payee than the router', async () => {
    expect(await offered({ asset: OTHER })).toMatch(/^invalid_payment: asset .* offer USDC at 0x036CbD/)
    expect(await offered({ payTo: OTHER })).toMatch(/^invalid_payment: payTo .* is not the split router/)
  })

  test('without the name or version of the token, or with others', async () => {
    expect(await offered({ extra: { version: '2' } })).toMatch(/^invalid_payment: extra.name must be/)
    expect(await offered({ extra: { name: 'USDC' } })).toMatch(/^invalid_payment: extra.version must be/)
    for (const extra of [
      { name: 'USD Coin', version: '2' },
      { name: 'USDC', version: '1' },
    ]) {
      expect(await offered({ extra })).toMatch(
        /^invalid_payment: extra must name the token's domain: name "USDC"/,
      )
    }
  })

  test('of nothing', async () => {
    expect(await refusal(await payload({ amount: 0n }))).toBe(
      'invalid_payment: amount 0 base units (0 USDC) does not pay for its own gas: at least 10000 base units (0.01 USDC) is settled on eip155:84532; offer it at that price or more, or sell several at once',
    )
  })

  test('of less than is worth its gas', async () => {
    expect(await refusal(await payload({ amount: 9_999n }))).toContain('amount 9999 base units')
    await expect(read(await payload({ amount: 10_000n }))).resolves.toBeDefined()
  })
})

describe('a payment is refused', () => {
  test.each([
    ['amount', '999999'],
    ['payTo', OTHER],
    ['asset', OTHER],
    ['network', 'eip155:1'],
  ] as const)('when the buyer accepted another %s', async (field, value) => {
    const body = await payload()
    const accepted = { ...body.paymentRequirements, [field]: value }
    const altered = { ...body, paymentPayload: { ...body.paymentPayload, accepted } }
    expect(await refusal(altered)).toMatch(
      `invalid_payment: the buyer accepted ${field} ${value} and the seller`,
    )
  })

  test('without a token in its own extensions, wherever else there may be one', async () => {
    const missing = /^invalid_payment: extensions.attributionToken is missing from the buyer's payload/
    for (const attributionToken of [undefined, null]) {
      const body = await payload({ extensions: { attributionToken } })
      expect(await refusal(body)).toMatch(missing)
    }
    const body = await payload()
    const { extensions } = body.paymentPayload
    const without = { ...body, extensions, paymentRequirements: { ...body.paymentRequirements, extensions } }
    expect(
      await refusal({ ...without, paymentPayload: { ...body.paymentPayload, extensions: undefined } }),
    ).toMatch(missing)
  })

  test('when it pays somebody else, or another amount', async () => {
    expect(await refusal(await payload({ to: OTHER }))).toMatch(
      /^invalid_payment: authorization.to .* is not payTo/,
    )
    for (const value of [999_999n, 1_000_001n]) {
      expect(await refusal(await payload({ value }))).toBe(
        `invalid_payment: authorization.value ${value} is not the amount: authorise exactly 1000000`,
      )
    }
  })

  test.each([7, 'abc', '-1', '0x1', '1.0', ' 7', true, {}])(
    'with the buyer agent %j',
    async (buyerAgentId) => {
      expect(await refusal(await payload({ buyerAgentId }))).toMatch(
        /^invalid_payment: extensions.buyerAgentId must be/,
      )
    },
  )

  test('with a salt that is none', async () => {
    expect(await refusal(await payload({ extensions: { attributionSalt: '0x12' } }))).toMatch(
      /^invalid_payment: extensions.attributionSalt must be/,
    )
  })

  test('before anything is asked of the chain', () => {
    expect(paper.node.asked).toEqual([])
  })
})
