import fc from 'fast-check'
import { type Hex, hashTypedData, toHex } from 'viem'
import { describe, expect, test } from 'vitest'
import * as Authorization from './authorization.ts'

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((each) => toHex(each))
const address = bytes(20) as fc.Arbitrary<Hex>
const amount = fc.bigInt({ min: 0n, max: 2n ** 256n - 1n })

describe('the digest of an authorisation', () => {
  test.each(['TransferWithAuthorization', 'ReceiveWithAuthorization'] as const)(
    'of type %s is what wallets sign',
    (type) => {
      const domains = fc.record({
        name: fc.string({ minLength: 1 }),
        version: fc.string({ minLength: 1 }),
        chainId: fc.integer({ min: 1 }),
        verifyingContract: address,
      })
      const authorizations = fc.record({
        from: address,
        to: address,
        value: amount,
        validAfter: amount,
        validBefore: amount,
        nonce: bytes(32),
      })
      fc.assert(
        fc.property(domains, authorizations, (domain, authorization) => {
          const typed = Authorization.typedData(type, domain, authorization)
          expect(Authorization.digest(type, domain, authorization)).toBe(
            hashTypedData(typed as Parameters<typeof hashTypedData>[0]),
          )
        }),
        { numRuns: 200 },
      )
    },
  )
})
