import fc from 'fast-check'
import { expect, it } from 'vitest'
import { distanceOf } from './spelling.ts'

/** The whole table, as the books have it. */
function plainDistance(a: string, b: string): number {
  const table = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => i + j),
  )
  const at = (i: number, j: number) => table[i]?.[j] ?? Number.POSITIVE_INFINITY
  for (let i = 1; i <= a.length; i += 1) {
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1
      let cost = Math.min(at(i - 1, j - 1) + change, at(i - 1, j) + 1, at(i, j - 1) + 1)
      if (a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] && i > 1 && j > 1)
        cost = Math.min(cost, at(i - 2, j - 2) + 1)
      ;(table[i] as number[])[j] = cost
    }
  }
  return at(a.length, b.length)
}

it('counts mistakes as the plain method does, up to what matters', () => {
  const word = fc.array(fc.constantFrom(...'abc'), { maxLength: 8 }).map((letters) => letters.join(''))
  fc.assert(
    fc.property(word, word, fc.constantFrom(1, 2), (a, b, most) => {
      expect(distanceOf(a, b, most)).toBe(Math.min(plainDistance(a, b), most + 1))
    }),
    { numRuns: 2_000 },
  )
})
