import { expect, it } from 'vitest'
import { createKept } from './kept.ts'

it('keeps as many as it may, those that were asked for last', () => {
  const kept = createKept<number>(3)
  for (const [at, name] of ['a', 'b', 'c'].entries()) kept.put(name, at)
  expect(kept.get('a')).toBe(0)
  kept.put('d', 3)
  kept.put('c', 4)
  kept.put('e', 5)
  expect(['a', 'b', 'c', 'd', 'e'].map((name) => kept.get(name))).toEqual([undefined, undefined, 4, 3, 5])
})
