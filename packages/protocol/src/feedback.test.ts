import fc from 'fast-check'
import { type Address, type Hex, keccak256, toBytes, toHex } from 'viem'
import { describe, expect, it } from 'vitest'
import { Feedback, ProtocolError } from './index.ts'

const MARKET = 'https://market.test'
const wallet = fc.uint8Array({ minLength: 20, maxLength: 20 }).map((bytes) => toHex(bytes) as Address)
const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes) as Hex)
const id = fc.nat()

const feedback = fc.record<Feedback.Feedback>({
  chainId: fc.integer({ min: 1, max: 1_000_000 }),
  identityRegistry: wallet,
  merchantId: id,
  client: wallet,
  createdAt: fc.integer({ min: 0, max: 4_102_444_800 }),
  rating: fc.integer({ min: 1, max: 5 }),
  reviewId: id,
  agentId: id,
  productId: bytes32,
  content: fc.string({ unit: 'grapheme', maxLength: 300 }),
  payment: fc.record({ from: wallet, escrow: wallet, transaction: bytes32 }),
})

const refusal = (work: () => unknown): string | undefined => {
  try {
    work()
  } catch (error) {
    if (error instanceof ProtocolError) return error.code
    throw error
  }
  return undefined
}

describe('feedback', () => {
  it('has the fields that the standard asks for', () => {
    const text = Feedback.serialize({
      chainId: 8_453,
      identityRegistry: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
      merchantId: 22,
      client: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      createdAt: 1_758_628_800,
      rating: 4,
      reviewId: 7,
      agentId: 3,
      productId: `0x${'a1'.repeat(32)}`,
      content: '{"rating":4}',
      payment: {
        from: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
        escrow: '0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
        transaction: `0x${'b2'.repeat(32)}`,
      },
    })
    expect(JSON.parse(text)).toMatchObject({
      agentRegistry: 'eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432',
      agentId: 22,
      clientAddress: 'eip155:8453:0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
      createdAt: '2025-09-23T12:00:00Z',
      value: 75,
      valueDecimals: 0,
      tag1: 'referrer',
      tag2: '0xa1a1a1a1',
      proofOfPayment: { chainId: '8453', txHash: `0x${'b2'.repeat(32)}` },
    })
    expect(Feedback.hash(text)).toBe(keccak256(toBytes(text)))
  })

  it('is read as it was written, and is written the same again', () => {
    fc.assert(
      fc.property(feedback, (given) => {
        const text = Feedback.serialize(given)
        expect(Feedback.serialize(Feedback.parse(text))).toBe(text)
        expect(Feedback.parse(text)).toMatchObject({ rating: given.rating, content: given.content })
      }),
    )
  })

  it('is refused with a clear error when it is anything else', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((json) => `{"review":${json}}`),
        ),
        (text) => {
          expect(refusal(() => Feedback.parse(text))).toBeDefined()
        },
      ),
    )
  })

  it('is refused when one field was changed', () => {
    fc.assert(
      fc.property(
        feedback,
        fc.constantFrom('value', 'tag1', 'tag2', 'valueDecimals', 'extra'),
        (given, name) => {
          const changed = { ...JSON.parse(Feedback.serialize(given)), [name]: 13 }
          expect(refusal(() => Feedback.parse(JSON.stringify(changed)))).toBe('invalid_feedback')
        },
      ),
    )
  })

  it('maps ratings to values of 0 to 100', () => {
    expect([1, 2, 3, 4, 5].map(Feedback.scoreOf)).toEqual([0, 25, 50, 75, 100])
    for (const rating of [0, 6, 2.5, Number.NaN]) {
      expect(refusal(() => Feedback.scoreOf(rating))).toBe('invalid_feedback')
    }
  })

  it('is found by its URL, of this market and chain only', () => {
    const url = Feedback.urlOf(MARKET, 8_453, 7n)
    expect(Feedback.reviewIn(MARKET, 8_453, url)).toBe(7n)
    expect(Feedback.reviewIn(MARKET, 84_532, url)).toBeUndefined()
    expect(Feedback.reviewIn('https://merket.test', 8_453, url)).toBeUndefined()
    for (const other of [`${url}0`, url.replace('/7/', '/07/'), url.replace('/7/', '/x/'), `${url}#a`, '']) {
      expect(Feedback.reviewIn(MARKET, 8_453, other)).toBeUndefined()
    }
  })
})
