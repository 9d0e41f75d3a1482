import { expect, it } from 'vitest'
import { bpsOf } from './bps.ts'

it('reads a share in percent as basis points, without rounding', () => {
  expect(['0', '40', '12.5', '0.07', ' 7,25 % '].map(bpsOf)).toEqual([0, 4000, 1250, 7, 725])
})

it('takes no share above 40 percent, with more decimals, or that is no number', () => {
  for (const text of ['40.01', '41', '100', '-1', '1.234', '', 'ten', '1e1']) {
    expect(bpsOf(text), text).toBeUndefined()
  }
})
