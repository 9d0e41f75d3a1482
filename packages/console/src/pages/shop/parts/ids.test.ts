import { describe, expect, it } from 'vitest'
import { merchantIdOf, productIdOf } from './ids.ts'

describe('ids in addresses', () => {
  it('of merchants are whole numbers from zero on', () => {
    expect([0, '0', '17'].map(merchantIdOf)).toEqual([0, 0, 17])
    for (const wrong of ['-1', '1.5', '1e3', '', 'x', undefined, '9'.repeat(16)]) {
      expect(merchantIdOf(wrong)).toBeUndefined()
    }
  })

  it('of products are 32 bytes', () => {
    expect(productIdOf(`0x${'AB'.repeat(32)}`)).toBe(`0x${'ab'.repeat(32)}`)
    expect(productIdOf('0x12')).toBeUndefined()
  })
})
