import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Numbers } from './numbers.ts'
import { Packing } from './packing.ts'

it('unpacks what was packed', () => {
  const packing = new Packing()
  const into = new Numbers()
  const number = fc.oneof(fc.nat(300), fc.nat(100_000), fc.integer({ min: 0, max: 2 ** 32 - 1 }))
  fc.assert(
    fc.property(fc.array(number, { maxLength: 400 }), (numbers) => {
      const ascending = Uint32Array.from(numbers).sort()
      const packed = packing.pack(ascending).slice()
      expect(packing.unpack(packed, into)).toEqual(ascending)
    }),
    { examples: [[[0, 127, 255, 384, 16_768, 33_151, 2 ** 21, 2 ** 32 - 1]]] },
  )
})

it('takes little more than a byte for what lies close together', () => {
  const numbers = Uint32Array.from({ length: 1_000 }, (_, i) => 1_000_000 + 100 * i)
  expect(new Packing().pack(numbers).byteLength).toBeLessThan(1_010)
})
