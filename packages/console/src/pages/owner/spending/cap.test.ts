import { expect, it } from 'vitest'
import { capOf } from './cap.ts'

it('reads an amount in USDC as base units, zero included, and nothing as no cap', () => {
  expect(['12.5', '0', ' ', '0.000001'].map(capOf)).toEqual([12_500_000, 0, null, 1])
})

it('takes no amount that is negative, too fine, or greater than the market can store', () => {
  for (const text of ['-1', '0.0000001', 'ten', '99999999999', '1,5'])
    expect(capOf(text), text).toBeUndefined()
})
