import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MILLION, PRODUCT_TYPES } from './rank.ts'
import {
  coveredRank,
  coverOf,
  groundOf,
  neededFor,
  spendingOf,
  supportOf,
  trustedSize,
  voiceOf,
} from './trust.ts'

const FULL = 10_000n

describe('the size of a purchase', () => {
  it('counts in full from a standing of 0.4 of the shop and 0.8 of the owner on', () => {
    expect(groundOf(400_000)).toBe(MILLION)
    expect(groundOf(100_000)).toBe(250_000)
    expect(voiceOf(800_000)).toBe(MILLION)
    expect(voiceOf(400_000)).toBe(31_250)
    expect(voiceOf(0)).toBe(0)
    expect(trustedSize(MILLION, { owner: 800_000, shop: 400_000 })).toBe(MILLION)
    expect(trustedSize(500_000, { owner: 800_000, shop: 100_000 })).toBe(125_000)
  })

  it('counts by the shop alone for an owner who had bought nothing, and in full where no shop is verified', () => {
    expect(trustedSize(MILLION, { owner: null, shop: MILLION })).toBe(MILLION)
    expect(trustedSize(MILLION, { owner: null, shop: 400_000 })).toBe(31_250)
    expect(trustedSize(123_456, null)).toBe(123_456)
  })

  it('never shrinks when a standing grows', () => {
    const part = fc.integer({ min: 0, max: MILLION })
    fc.assert(
      fc.property(part, part, part, part, (size, owner, shop, more) => {
        const base = trustedSize(size, { owner, shop })
        expect(trustedSize(size, { owner: Math.min(MILLION, owner + more), shop })).toBeGreaterThanOrEqual(
          base,
        )
        expect(trustedSize(size, { owner, shop: Math.min(MILLION, shop + more) })).toBeGreaterThanOrEqual(
          base,
        )
      }),
    )
  })
})

describe('support', () => {
  it('is what was paid at verified shops, and a quarter of the spending by standing at others', () => {
    expect(supportOf(1_000n, 0n)).toBe(1_000n)
    expect(supportOf(0n, 1_000n * 800_000n)).toBe(200n)
    expect(spendingOf(299_999n, FULL)).toBe(299_999n)
    expect(spendingOf(5_000_000n, FULL)).toBe(300_000n)
  })
})

describe('the cover of a rank', () => {
  it('is the square of the part of the needed support, and at most 1', () => {
    const needed = neededFor(1_000_000, FULL)
    expect(needed).toBe(1.26 * 1_100_000)
    expect(coverOf({ support: needed / 2, sales: 1_000_000 }, FULL)).toBeCloseTo(0.25, 12)
    expect(coverOf({ support: 2 * needed, sales: 1_000_000 }, FULL)).toBe(1)
    expect(coverOf({ support: 0, sales: 0 }, FULL)).toBe(0)
  })

  it('lowers ranks above the prior only', () => {
    expect(coveredRank('repeat', 0.9, 0.25)).toBeCloseTo(0.6, 12)
    expect(coveredRank('repeat', 0.3, 0)).toBe(0.3)
    expect(coveredRank('one_off', 0.9, 0)).toBeCloseTo(5 / 12, 12)
  })

  /** The extra commission of a seller at the highest evidence, above that of a newcomer, for a volume in small sales. */
  function extraOf(type: 'repeat' | 'one_off', support: number, volume: number): number {
    const steps = 400
    let [sales, extra] = [0, 0]
    // Small sales first: a sale is never more than a small part of the sales before it and of the floor.
    const factor = ((volume + 100_000) / 100_000) ** (1 / steps)
    for (let step = 0; step < steps; step++) {
      const sale = (sales + 100_000) * (factor - 1)
      const prior = type === 'repeat' ? 0.5 : 5 / 12
      const rank = coveredRank(type, 1, coverOf({ support, sales }, FULL))
      extra += sale * 0.6 * 0.9 * (rank - prior)
      sales += sale
    }
    return extra
  }
  const amount = fc.double({ min: 0, max: 1e10, noNaN: true })

  it('never lets support bring more than half of itself, whatever is sold', () => {
    fc.assert(
      fc.property(fc.constantFrom(...PRODUCT_TYPES), amount, amount, (type, support, volume) => {
        // Sales come in steps here, which adds a few percent.
        expect(extraOf(type, support, volume)).toBeLessThanOrEqual(0.53 * support + 1)
      }),
    )
  })

  it('brings no more when support and sales are split over two agents', () => {
    const part = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(amount, amount, part, part, (support, volume, ofSupport, ofVolume) => {
        const whole = extraOf('repeat', support, volume)
        const split =
          extraOf('repeat', support * ofSupport, volume * ofVolume) +
          extraOf('repeat', support * (1 - ofSupport), volume * (1 - ofVolume))
        expect(split).toBeLessThanOrEqual(whole * 1.05 + 1)
      }),
    )
  })
})
