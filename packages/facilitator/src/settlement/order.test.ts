import { splitRouterAbi } from '@referrer/protocol/abi'
import fc from 'fast-check'
import { encodeFunctionData, type Hex, zeroHash } from 'viem'
import { describe, expect, test } from 'vitest'
import type { Payment } from '../payment/payment.ts'
import { callOf, toFinish, toSettle } from './order.ts'

/** Signatures of contract wallets have any length. */
const paymentWith = (signature: Hex, value: bigint): Payment => ({
  chainId: 1,
  network: 'eip155:1',
  authorization: {
    kind: 1,
    from: `0x${'ab'.repeat(20)}`,
    value,
    validAfter: 0n,
    validBefore: 9n,
    nonce: `0x${value.toString(16).padStart(64, '0')}`,
    signature,
  },
  isCommitted: false,
  isVerified: true,
  deployment: undefined,
  attribution: {
    merchantId: 1n,
    productId: zeroHash,
    reviewId: 2n,
    reviewerAgentId: 3n,
    buyerAgentId: 4n,
    cashbackOfCommissionBps: 5,
    commissionMultiplierBps: 6,
    salt: zeroHash,
  },
  digest: zeroHash,
})

describe('a transaction', () => {
  test('for several purchases is encoded as the router reads it', () => {
    const signatures = fc.array(fc.uint8Array({ maxLength: 200 }), { minLength: 2, maxLength: 70 })
    fc.assert(
      fc.property(signatures, (each) => {
        const payments = each.map((bytes, at) =>
          paymentWith(`0x${Buffer.from(bytes).toString('hex')}`, BigInt(at + 1)),
        )
        const purchases = payments.map(({ authorization, attribution }) => ({ authorization, attribution }))
        expect(callOf(payments.map(toSettle))).toBe(
          encodeFunctionData({ abi: splitRouterAbi, functionName: 'settleBatch', args: [purchases] }),
        )
      }),
    )
  })

  test('for one purchase is that purchase alone', () => {
    const payment = paymentWith('0x01', 1n)
    const { authorization, attribution } = payment
    const args = [{ authorization, attribution }] as const
    expect(callOf([toSettle(payment)])).toBe(
      encodeFunctionData({ abi: splitRouterAbi, functionName: 'settle', args }),
    )
  })

  test('takes nothing but purchases together', () => {
    const payment = paymentWith('0x01', 1n)
    expect(() => callOf([toSettle(payment), toFinish(payment)])).toThrow('of kind finish')
  })
})
