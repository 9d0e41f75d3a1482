import { AbiCoder, keccak256 as ethersKeccak256 } from 'ethers'
import fc from 'fast-check'
import { encodePacked, keccak256, numberToHex } from 'viem'
import { describe, expect, test } from 'vitest'
import { codeOf } from '../test/hostile.ts'
import { PRODUCT_ID } from '../test/keys.ts'
import { contentHash } from './content-hash.ts'
import { votesHash } from './votes-hash.ts'

const abi = AbiCoder.defaultAbiCoder()
const uint = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })
const text = fc.string({ unit: 'grapheme' })

describe('votes hash', () => {
  const votes = [
    { reviewId: 3, reasoning: 'fast and cheap' },
    { reviewId: 0, reasoning: 'späte Antwort 🧀' },
  ]

  test('has the value on record', () => {
    expect(votesHash(votes)).toBe('0x79756e562b91055b79f5da69fb6a51f735aa9907cebc14a6d2884586af0d647c')
  })

  test('is what ethers computes, for any votes', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ reviewId: uint, reasoning: text }), { maxLength: 3 }), (given) => {
        const encoded = abi.encode(['tuple(uint256 reviewId, string reasoning)[]'], [given])
        expect(votesHash(given)).toBe(ethersKeccak256(encoded))
      }),
    )
  })

  test('changes with a review id, a reasoning and the order; same votes, same hash', () => {
    const [first, second] = votes
    if (!first || !second) throw new Error('two votes')
    const others = [
      [second, first],
      [first],
      [{ ...first, reviewId: 4 }, second],
      [{ ...first, reasoning: 'slow' }, second],
    ]
    for (const other of others) expect(votesHash(other)).not.toBe(votesHash(votes))
    expect(votesHash(structuredClone(votes))).toBe(votesHash(votes))
  })

  test('refuses an id that is no uint256 and text with a lone surrogate', async () => {
    for (const vote of [
      { reviewId: -1, reasoning: '' },
      { reviewId: 1.5, reasoning: '' },
      { reviewId: 1, reasoning: '\udfff' },
    ]) {
      expect(await codeOf(() => votesHash([vote]))).toBe('invalid_votes')
    }
  })
})

describe('content hash', () => {
  const review = {
    agentId: 7,
    merchantId: 0,
    productId: PRODUCT_ID,
    content: '{"rating": 5, "description":"ok"}',
  } as const

  test('has the value on record', () => {
    expect(contentHash(review)).toBe('0x38b1ac9d1462aa992a64e4053749059c7d8f0920b7202af52b8618cb75df413f')
  })

  test('is keccak256 over the standard ABI encoding, as ethers computes it [CHAIN-01] [CHAIN-02]', () => {
    const given = fc.record({ agentId: uint, merchantId: uint, product: uint, content: text })
    fc.assert(
      fc.property(given, ({ agentId, merchantId, product, content }) => {
        const productId = numberToHex(product, { size: 32 })
        const encoded = abi.encode(
          ['uint256', 'uint256', 'bytes32', 'string'],
          [agentId, merchantId, productId, content],
        )
        expect(contentHash({ agentId, merchantId, productId, content })).toBe(ethersKeccak256(encoded))
      }),
    )
  })

  test('is not the packed encoding [CHAIN-01]', () => {
    const packed = encodePacked(
      ['uint256', 'uint256', 'bytes32', 'string'],
      [7n, 0n, PRODUCT_ID, review.content],
    )
    expect(contentHash(review)).not.toBe(keccak256(packed))
  })

  test('sees a space that a JSON reader would not', () => {
    const rewritten = JSON.stringify(JSON.parse(review.content))
    expect(contentHash({ ...review, content: rewritten })).not.toBe(contentHash(review))
  })

  test('refuses a short product id and text with a lone surrogate', async () => {
    expect(await codeOf(() => contentHash({ ...review, productId: '0x12' }))).toBe('invalid_content')
    expect(await codeOf(() => contentHash({ ...review, content: '\ud800' }))).toBe('invalid_content')
  })
})
