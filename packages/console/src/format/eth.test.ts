import { describe, expect, it } from 'vitest'
import { formatEth } from './eth.ts'

describe('a network fee', () => {
  it.each([
    [0n, '0'],
    [123_456_789_012_345n, '0.00012'],
    [100_000_000_000_000n, '0.0001'],
    [1n, 'less than 0.000000001'],
    [1_250_000_000_000_000_000n, '1.25'],
    [3_000_000_000_000_000_000n, '3'],
  ])('of %s wei is shown as %s', (wei, text) => {
    expect(formatEth(wei)).toBe(text)
  })
})
