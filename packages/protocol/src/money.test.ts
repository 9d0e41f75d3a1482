import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { codeOf, expectOnlyProtocolErrors, hostileText } from '../test/hostile.ts'
import * as Money from './money.ts'

const bps = fc.integer({ min: 0, max: 10_000 })
const terms = {
  commissionBps: 1000,
  multiplierBps: 10_000,
  feeBps: 1000,
  cashbackOfCommissionBps: 2000,
  heldBackBps: 5000,
}

describe('money', () => {
  test('turns base units into decimal text and back without loss', () => {
    expect(Money.format(1_500_000n)).toBe('1.5')
    expect(Money.parse('0.000001')).toBe(1n)
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 200n }), (units) => {
        expect(Money.parse(Money.format(units))).toBe(units)
      }),
    )
  })

  test('refuses text that it would have to round or guess', async () => {
    for (const text of ['1.0000001', '.5', '5.', '01', '-1', '+1', '1e6', '1,5', '$1', ' 1', '', 1.5, null]) {
      expect(await codeOf(() => Money.parse(text)), String(text)).toBe('invalid_amount')
    }
    expect(await codeOf(() => Money.format(-1n))).toBe('invalid_amount')
  })

  test('answers hostile text with an amount or a ProtocolError', async () => {
    await expectOnlyProtocolErrors(hostileText('123456.789012'), Money.parse)
  })
})

describe('split', () => {
  test('divides a price of 10 USDC at 10% commission as agreed', () => {
    expect(Money.split(10_000_000n, terms)).toEqual({
      merchant: 9_000_000n,
      commission: 1_000_000n,
      fee: 100_000n,
      cashback: 200_000n,
      reviewer: 700_000n,
      immediate: 350_000n,
      heldBack: 350_000n,
    })
  })

  test('rounds every share down: 99 units at 10% and a multiplier of 0.4 leave a commission of 3', () => {
    expect(Money.split(99n, { ...terms, multiplierBps: 4000 })).toEqual({
      merchant: 96n,
      commission: 3n,
      fee: 0n,
      cashback: 0n,
      reviewer: 3n,
      immediate: 2n,
      heldBack: 1n,
    })
  })

  test('parts add up to the price to the last unit, none is negative, and the commission is the exact one rounded down', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 128n }),
        fc.record({
          commissionBps: bps,
          multiplierBps: bps,
          feeBps: bps,
          cashbackOfCommissionBps: bps,
          heldBackBps: bps,
        }),
        (price, given) => {
          fc.pre(given.feeBps + given.cashbackOfCommissionBps <= 10_000)
          const { merchant, commission, fee, cashback, reviewer, immediate, heldBack } = Money.split(
            price,
            given,
          )
          expect(merchant + fee + cashback + immediate + heldBack).toBe(price)
          expect(fee + cashback + reviewer).toBe(commission)
          const exact = price * BigInt(given.commissionBps) * BigInt(given.multiplierBps)
          expect(exact - commission * 100_000_000n).toBe(exact % 100_000_000n)
          expect([merchant, fee, cashback, immediate, heldBack].every((part) => part >= 0n)).toBe(true)
        },
      ),
    )
  })

  test('takes the cashback from the reviewer, never from the merchant', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 2n ** 64n }),
        fc.integer({ min: 0, max: 4000 }),
        (price, cashback) => {
          const without = Money.split(price, { ...terms, cashbackOfCommissionBps: 0 })
          const withCashback = Money.split(price, { ...terms, cashbackOfCommissionBps: cashback })
          expect(withCashback.merchant).toBe(without.merchant)
          expect(withCashback.reviewer).toBe(without.reviewer - withCashback.cashback)
        },
      ),
    )
  })

  test('refuses shares that no reviewer could pay', async () => {
    const code = (change: Partial<Money.SplitTerms>) => codeOf(() => Money.split(1n, { ...terms, ...change }))
    expect(await code({ feeBps: 7000, cashbackOfCommissionBps: 4000 })).toBe('invalid_split')
    expect(await code({ commissionBps: 10_001 })).toBe('invalid_split')
    expect(await code({ heldBackBps: -1 })).toBe('invalid_split')
    expect(await code({ multiplierBps: 0.5 })).toBe('invalid_split')
    expect(await codeOf(() => Money.split(-1n, terms))).toBe('invalid_amount')
  })
})
