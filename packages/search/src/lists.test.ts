import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Lists } from './lists.ts'

const list = fc.constantFrom(0, 1, 7, 3_000)
const act = fc.oneof(
  fc.record({ act: fc.constant('push' as const), list, times: fc.constantFrom(1, 5, 40) }),
  fc.record({ act: fc.constant('take' as const), list, times: fc.constantFrom(1, 5, 40), at: fc.nat() }),
  fc.record({ act: fc.constant('put' as const), list, times: fc.constantFrom(0, 1, 2, 3, 64, 65) }),
  fc.record({ act: fc.constant('clear' as const), list }),
)

const ascending = (numbers: Iterable<number>) => [...numbers].sort((a, b) => a - b)

it('has in each list what was put there and not taken', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 60 }), (acts) => {
      const lists = new Lists()
      const expected = new Map<number, number[]>([0, 1, 7, 3_000].map((list) => [list, []]))
      let next = 0
      for (const step of acts) {
        const numbers = expected.get(step.list) as number[]
        if (step.act === 'push') {
          for (let i = 0; i < step.times; i += 1, next += 1) {
            lists.push(step.list, next)
            numbers.push(next)
          }
        } else if (step.act === 'take') {
          for (let i = 0; i < step.times && numbers.length > 0; i += 1)
            lists.take(step.list, numbers.splice(step.at % numbers.length, 1)[0] as number)
        } else if (step.act === 'put') {
          const put = Array.from({ length: step.times }, () => next++)
          lists.put(step.list, Uint32Array.from(put))
          numbers.splice(0, numbers.length, ...put)
        } else {
          lists.clear(step.list)
          numbers.length = 0
        }
        for (const [list, numbers] of expected) expect(ascending(lists.of(list))).toEqual(ascending(numbers))
      }
    }),
  )
})

it('holds lists longer than an array for many, beside short ones', () => {
  const lists = new Lists()
  const many = 1_100_000
  for (let i = 0; i < many; i += 1) {
    lists.push(0, i)
    if (i % 10 === 0) lists.push(1 + (i % 1_000), i)
  }
  expect(lists.of(0)).toEqual(Uint32Array.from({ length: many }, (_, i) => i))
  expect(lists.of(11)).toEqual(Uint32Array.from({ length: 1_100 }, (_, i) => 1_000 * i + 10))
  lists.take(0, 5)
  expect(lists.length(0)).toBe(many - 1)
  lists.put(0, Uint32Array.of(7))
  expect(lists.of(0)).toEqual(Uint32Array.of(7))
})
