import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { quote, raise } from './fees.ts'

const fee = fc.bigInt({ min: 0n, max: 10n ** 13n })
const fees = fc
  .tuple(fee, fee)
  .map(([a, b]) => (a > b ? [a, b] : [b, a]))
  .map(([most = 0n, tip = 0n]) => ({ maxFeePerGas: most, maxPriorityFeePerGas: tip }))

describe('a quote', () => {
  it('leaves room for the base fee to double and pays the tip on top', () => {
    expect(quote(100n, 7n, 1_000n)).toEqual({ maxFeePerGas: 207n, maxPriorityFeePerGas: 7n })
  })

  it('stays within the cap, and its tip within its fee', () => {
    expect(quote(100n, 70n, 50n)).toEqual({ maxFeePerGas: 50n, maxPriorityFeePerGas: 50n })
  })
})

describe('a raise', () => {
  it('is a quarter more, or what the market asks by now', () => {
    const last = { maxFeePerGas: 100n, maxPriorityFeePerGas: 8n }
    expect(raise(last, { maxFeePerGas: 90n, maxPriorityFeePerGas: 1n }, 1_000n)).toEqual({
      maxFeePerGas: 125n,
      maxPriorityFeePerGas: 10n,
    })
    expect(raise(last, { maxFeePerGas: 300n, maxPriorityFeePerGas: 20n }, 1_000n)).toEqual({
      maxFeePerGas: 300n,
      maxPriorityFeePerGas: 20n,
    })
  })

  it('is one that nodes take as a replacement and never above the cap, or is none', () => {
    fc.assert(
      fc.property(fees, fees, fee, (last, market, cap) => {
        const next = raise(last, market, cap)
        if (!next) return
        expect(next.maxFeePerGas).toBeLessThanOrEqual(cap)
        expect(next.maxPriorityFeePerGas).toBeLessThanOrEqual(next.maxFeePerGas)
        for (const name of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
          expect(next[name] * 8n).toBeGreaterThanOrEqual(last[name] * 9n)
          expect(next[name]).toBeGreaterThan(last[name])
        }
      }),
    )
  })
})
