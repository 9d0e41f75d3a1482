import { expect, it } from 'vitest'
import { alignedUsdc, formatUsdc } from './usdc.ts'

it('leaves free the places that only other amounts of the column have', () => {
  const column = [50_000n, 1_234_567, 20_000_000]
  expect(column.map((amount) => alignedUsdc(amount, column))).toEqual([
    '0.05\u2007\u2007\u2007\u2007',
    '1.234567',
    '20.00\u2007\u2007\u2007\u2007',
  ])
  expect(alignedUsdc(50_000, [50_000, 1_500_000])).toBe(formatUsdc(50_000))
})
