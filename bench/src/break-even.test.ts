import { expect, it } from 'vitest'
import { breakEven, costOf, priceByFee } from './break-even.ts'

it('tells what gas costs in base units, rounded up, and the price whose fee pays for it', () => {
  // 253,000 gas at 0.01 gwei are 0.00000253 ETH: 0.008855 USDC at 3,500.
  expect(costOf(253_000n, '0.01', 3_500n)).toBe(8_855n)
  expect(costOf(1n, '0.001', 2_000n)).toBe(1n)
  expect(costOf(253_000n, '1', 2_000n)).toBe(506_000n)
  expect(priceByFee(8_855n)).toBe(1_362_308n)
  expect((priceByFee(8_855n) * 6_500n) / 1_000_000n).toBe(8_855n)
})

it('has a cell for each price of gas and of ETH', () => {
  const rows = breakEven(253_000n, (cost) => cost)
  expect(rows.map((row) => row['gwei a gas'])).toEqual(['0.001', '0.005', '0.01', '0.05', '0.1'])
  expect(rows[2]).toMatchObject({
    'ETH at 2,000': '5,060',
    'ETH at 3,500': '8,855',
    'ETH at 5,000': '12,650',
  })
})
